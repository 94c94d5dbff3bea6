"""Cumulative counts of logged rows against a slow and obvious model."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from api.kernel.errors import UnsupportedAuditError
from api.kinds.context import in_process_context
from api.kinds.log_cdf import TREE, LogCdf
from api.kinds.registry import AudienceFacts
from api.platforms.interfaces import Log, Platform
from openapi.resources import LogCdfRequest
from privacy.tables.membership import Membership
from tests.logs.parquet import ParquetLogs

KIND = LogCdf()
EDGES = [0.0, 0.25, 0.5, 1.0]
LOG = Log(person="applicant", numbers={"score": (0.0, 1.0)}, words={"place": ("here", "there")})
GROUPS = (np.arange(0, 12), np.arange(12, 25))


def asked(**changes: Any) -> LogCdfRequest:
    fields = {
        "kind": "log-cdf",
        "audience_id": "audience_" + "0" * 30,
        "log": "jobs",
        "column": "score",
        "bins": {"edges": EDGES},
        "rows_per_person": 100,
        "epsilon": "1",
    }
    return LogCdfRequest.model_validate(fields | changes)


@pytest.fixture
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "person": np.repeat(np.arange(30), 6),
            "score": rng.choice([-3.0, 0.0, 0.1, 0.25, 0.4, 0.7, 1.0, 9.0, np.nan], 180),
            "place": rng.choice(["here", "there"], 180),
        }
    )


def leaves(request: LogCdfRequest, folder: Path, frame: pl.DataFrame, k: int = 1) -> Any:
    frame.write_parquet(folder / "jobs.parquet")
    people: Any = None
    platform = Platform("logs", people, logs=ParquetLogs(folder, {"jobs": LOG}))
    facts = AudienceFacts(("g0", "g1"), k, None)
    KIND.check(request, facts, platform)
    plan = KIND.plan(request, facts)
    return KIND.reduce(request, plan, [], Membership(GROUPS, k), in_process_context(platform))[
        TREE
    ].cells


def obvious(frame: pl.DataFrame, people: Any) -> list[int]:
    """Clipped to the public range, a row is in a bin, whose last one holds its upper edge."""
    found = [0, 0, 0, 0]
    for person, score in frame.select("person", "score").iter_rows():
        if person not in people or np.isnan(score):
            continue
        inside = min(max(score, 0.0), 1.0)
        found[0 if inside < 0.25 else 1 if inside < 0.5 else 2] += 1
    return found


def test_leaves_are_the_obvious_ones(tmp_path: Path, frame: pl.DataFrame) -> None:
    found = leaves(asked(), tmp_path, frame)
    assert found.tolist() == [obvious(frame, set(group.tolist())) for group in GROUPS]


def test_only_rows_with_the_words_asked_for_count(tmp_path: Path, frame: pl.DataFrame) -> None:
    found = leaves(asked(where={"place": ["here"]}), tmp_path, frame)
    here = frame.filter(pl.col("place") == "here")
    assert found.tolist() == [obvious(here, set(group.tolist())) for group in GROUPS]


@pytest.mark.parametrize("most", [1, 2, 4])
def test_nobody_has_more_rows_than_declared(most: int, tmp_path: Path, frame: pl.DataFrame) -> None:
    whole = frame.with_columns(score=pl.lit(0.4))
    found = leaves(asked(rows_per_person=most), tmp_path, whole)
    assert found.tolist() == [[0, most * len(group), 0, 0] for group in GROUPS]


@pytest.mark.parametrize(
    "changes", [{"log": "none"}, {"column": "age"}, {"where": {"place": ["nowhere"]}}]
)
def test_what_is_not_there_is_refused(
    changes: dict[str, Any], tmp_path: Path, frame: pl.DataFrame
) -> None:
    with pytest.raises(UnsupportedAuditError):
        leaves(asked(**changes), tmp_path, frame)
