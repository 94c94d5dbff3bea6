"""Gain of a second core: the same tables on Ray, by two cores and by one, and in process.

A local cluster has two cores. Each task takes one unit of a resource: with one unit, tasks run one
after the other; with two, two at a time. Nothing else differs. The scores are the demo's. The rows
of the log are scattered over eight Parquet files, so they must be exchanged.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import ray

from api.app.compose import make_simulated_platform
from api.execution.ray.driver import RayEngine
from api.kernel.settings import RayCluster
from api.kinds.context import AuditContext, in_process_context
from api.kinds.registry import KINDS, AudienceFacts
from api.platforms.files.parquet_logs import ParquetLogs
from api.platforms.interfaces import Log, Platform
from bench.harness import Figure, compare
from openapi.resources import REQUEST
from platform_sim import SOFTWARE_JOB
from privacy.tables.bounded_table import Table
from privacy.tables.membership import Membership

COMMAND = "python -m bench ray"
FILES, PARTITIONS = 8, 8
CORES: dict[str, float] = {"one-core": 1, "two-cores": 2}
LOG = Log("candidate", {"score": (0.0, 1.0), "outcome": (0.0, 1.0)})
IDS = {"audience_id": "audience_" + "0" * 30, "epsilon": "1"}
EDGES = {"bins": {"edges": np.linspace(0, 1, 101).tolist()}}


def run(people: int = 2_000_000, rows: int = 10_000_000) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="ray-") as folder, _cluster(folder):
        return [*_scored(people), *_logged(Path(folder), rows)]


@contextmanager
def _cluster(folder: str) -> Iterator[None]:
    with patch.dict(os.environ, {"HOME": folder, "RAY_USAGE_STATS_ENABLED": "0"}):
        ray.init(
            "local",
            num_cpus=2,
            resources=CORES,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=2 * 2**30,
            _temp_dir=folder,
        )
        try:
            yield
        finally:
            ray.shutdown()


def _scored(people: int) -> list[Figure]:
    asked = {"kind": "score-histogram", "content_id": "content_" + "0" * 30, **IDS, **EDGES}
    name = f"scores of {people:,} people on Ray"
    return _figures(
        name, asked, partial(make_simulated_platform, people=people), people, [SOFTWARE_JOB]
    )


def _logged(folder: Path, rows: int) -> list[Figure]:
    people = rows // 10
    _write(folder, rows, people)
    asked = {"kind": "outcome-test", "log": "jobs", **IDS, **EDGES, "rows_per_person": 1}
    asked["outcome_range"] = {"low": 0, "high": 1}
    name = f"outcome moments of {rows:,} logged rows in {FILES} files on Ray, 1 a person"
    return _figures(name, asked, partial(logged, str(folder)), people, [])


def _write(folder: Path, rows: int, people: int) -> None:
    (folder / "jobs").mkdir()
    rng = np.random.default_rng(1)
    for number in range(FILES):
        score = rng.random(rows // FILES)
        columns = {
            "person": rng.integers(0, people, rows // FILES),
            "score": score,
            "outcome": (rng.random(rows // FILES) < score).astype(np.float64),
        }
        pl.DataFrame(columns).write_parquet(folder / "jobs" / f"{number}.parquet")


def logged(folder: str) -> Platform:
    logs, nobody = ParquetLogs(Path(folder), {"jobs": LOG}), None
    return Platform("bench", people=nobody, logs=logs, pieces=logs)  # type: ignore[arg-type]


def _figures(
    name: str, asked: dict[str, Any], make: Callable[[], Platform], people: int, contents: Any
) -> list[Figure]:
    platform = make()
    halves = Membership((np.arange(0, people, 2), np.arange(1, people, 2)), 1)
    request: Any = REQUEST.validate_python(asked)
    kind = KINDS[request.kind]
    plan = kind.plan(request, AudienceFacts(("g0", "g1"), 1, None))

    def made(on: AuditContext) -> Table:
        return next(iter(kind.reduce(request, plan, contents, halves, on).values()))

    def on_ray(resource: str) -> AuditContext:
        cluster = RayCluster(partitions=PARTITIONS, resource=resource)
        return AuditContext(platform, RayEngine(platform, make, cluster))

    here = in_process_context(platform)
    one, two = on_ray("one-core"), on_ray("two-cores")
    # The drawn rows differ each time, but not their number. After this run, all processes are warm.
    first = {int(made(on).cells[..., 0].sum()) for on in (one, two, here)}
    assert len(first) == 1
    beside = partial(compare, command=COMMAND, rounds=5)
    return [
        beside(
            f"{name}, by two cores; compared with one",
            partial(made, two),
            partial(made, one),
            goal="≤ 0.65",
        ),
        beside(
            f"{name}, by two cores; compared with in process",
            partial(made, two),
            partial(made, here),
            goal="—",
        ),
    ]
