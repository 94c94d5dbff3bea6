"""Counts of equal opportunity over ten million rows, compared with a bare aggregation of the file.

For a researcher's own file, `reo` checks signals and groups and counts them, by Polars if it is
installed (the extra `logs`); the peers are one DuckDB query and one Polars query. For a platform's
log, ours is a worker's task between the charge and the noise, with rows drawn per viewer; the peer
is one Polars query that does the same.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from api.kinds.context import in_process_context
from api.kinds.registry import KINDS, AudienceFacts
from api.platforms.interfaces import Log, Platform, Traffic
from auditor_client.reo.logs import Columns, read_log
from bench.harness import Figure, compare
from openapi.resources import ReoRequest
from privacy.tables.membership import Membership
from tests.logs.parquet import ParquetLogs

ROWS = 10_000_000
ROWS_EACH = 10
COMMAND = "python -m bench reo"
GOAL = "at most 1.5 of the bare aggregation"
SIGNALS = ("like_video", "share", "follow", "finish", "download", "long_view")
STRATEGIES = ("default", "boosted", "random")


def run(rows: int = ROWS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "feed.parquet"
        _write(path, rows)
        platform = [_platform(path, rows, most) for most in (1, ROWS_EACH)]
        return [*_own_file(path, rows), *platform]


def _write(path: Path, rows: int) -> None:
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {"person": np.arange(rows) // ROWS_EACH}
    columns |= {name: rng.random(rows) < 0.1 for name in SIGNALS}
    columns["young_adult"] = _words(rng.integers(0, 2, rows), ("0", "1"))
    columns["strategy"] = _words(rng.integers(0, 3, rows), STRATEGIES)
    pl.DataFrame(columns).write_parquet(path)


def _words(codes: NDArray[np.int64], words: Sequence[str]) -> pl.Series:
    return pl.Series(np.array(words)[codes]).cast(pl.Enum(words))


def _own_file(path: Path, rows: int) -> list[Figure]:
    columns = Columns(SIGNALS, "young_adult")

    def ours() -> dict[str, int]:
        log = read_log(path, columns, "default")
        return log.shown | {f"{name}+": count for name, count in log.positives.items()}

    def by_duckdb() -> list[Any]:
        query = (
            f"select young_adult, count(*), sum(({' or '.join(SIGNALS)})::int)"
            f" from read_parquet('{path}') group by 1"
        )
        return duckdb.execute(query).fetchall()

    def by_polars() -> list[Any]:
        positives = pl.any_horizontal(*SIGNALS).sum().alias("positives")
        grouped = pl.scan_parquet(path).group_by("young_adult")
        return grouped.agg(pl.len(), positives).collect().rows()

    found, figures = ours(), []
    for peer, bare in (("DuckDB", by_duckdb), ("Polars", by_polars)):
        for name, shown, positives in bare():
            assert (found[name], found[f"{name}+"]) == (shown, positives)
        name = f"reo counts of {rows:,} rows of an own file, compared with {peer}"
        figures.append(compare(name, ours, bare, goal=GOAL, command=COMMAND))
    return figures


def _platform(path: Path, rows: int, most: int) -> Figure:
    log = Log(
        "viewer",
        dict.fromkeys(SIGNALS, (0.0, 1.0)),
        {"strategy": STRATEGIES, "young_adult": ("0", "1")},
        traffic=Traffic("strategy", "random", SIGNALS, ("young_adult",)),
    )
    logs = ParquetLogs(path.parent, {"feed": log})
    platform = Platform("bench", people=None, logs=logs)  # type: ignore[arg-type]
    request = ReoRequest.model_validate(
        {
            "kind": "reo", "audience_id": "audience_" + "0" * 30, "log": "feed",
            "signals": list(SIGNALS), "creators": "young_adult", "groups": ["0", "1"],
            "strategies": ["default", "boosted"], "rows_per_person": most, "epsilon": "1",
        }
    )  # fmt: skip
    people = np.arange(rows // ROWS_EACH)
    kind = KINDS["reo"]
    plan = kind.plan(request, AudienceFacts(("g0",), 1, None))
    membership = Membership((people,), 1)
    audience = pl.LazyFrame({"person": people})

    def ours() -> np.ndarray:
        return kind.reduce(request, plan, [], membership, in_process_context(platform))[
            "counts"
        ].cells

    def bare() -> pl.DataFrame:
        return _bare(path, audience, most)

    assert ours().sum() == bare()["rows"].sum() == most * len(people)
    name = f"reo counts of {rows:,} logged rows, {most} a viewer"
    return compare(name, ours, bare, goal=GOAL, command=COMMAND, rounds=3)


def _bare(path: Path, audience: pl.LazyFrame, most: int) -> pl.DataFrame:
    rows = pl.scan_parquet(path).join(audience, on="person")
    if most < ROWS_EACH:
        rows = rows.filter(pl.int_range(pl.len()).shuffle().over("person") < most)
    positive = pl.any_horizontal(*SIGNALS)
    grouped = rows.with_columns(positive=positive).group_by("strategy", "young_adult", "positive")
    return grouped.agg(pl.len().alias("rows")).collect()
