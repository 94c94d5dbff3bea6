"""Outcome moments of ten million logged rows, compared with a bare aggregation of the file.

Ours is what a worker does between the charge and the noise: the adapter of the tests reads Parquet
by Polars, rows are checked, clipped, sampled and summed. The peer is one bare query that does the
same on the same file, in the faster engine: DuckDB to draw one row of each person, Polars to take
all rows; then bins, and the six sums by group and bin.
"""

import tempfile
from pathlib import Path

import duckdb
import numpy as np
import polars as pl

from api.kinds.context import in_process_context
from api.kinds.registry import KINDS, AudienceFacts
from api.platforms.interfaces import Log, Platform
from bench.harness import Figure, compare
from openapi.resources import OutcomeTestRequest
from privacy.tables.membership import Membership
from tests.logs.parquet import ParquetLogs

ROWS = 10_000_000
ROWS_EACH = 10
BINS = 10
COMMAND = "python -m bench logs"
GOAL = "at most 1.5 of the bare aggregation"
_LOG = Log("candidate", {"score": (0.0, 1.0), "outcome": (0.0, 1.0)})


def run(rows: int = ROWS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.parquet"
        _write(path, rows)
        return [_figure(path, rows, most) for most in (1, ROWS_EACH)]


def _write(path: Path, rows: int) -> None:
    rng = np.random.default_rng(1)
    score = rng.random(rows)
    columns = {
        "person": np.arange(rows) // ROWS_EACH,
        "score": score,
        "outcome": (rng.random(rows) < score).astype(np.float64),
    }
    pl.DataFrame(columns).write_parquet(path)


def _figure(path: Path, rows: int, most: int) -> Figure:
    people = np.arange(rows // ROWS_EACH)
    # Two groups whose people alternate in the log.
    first = np.random.default_rng(2).random(len(people)) < 0.5
    membership = Membership((people[first], people[~first]), 1)
    groups = pl.DataFrame({"person": people, "group": np.where(first, 0, 1)})
    request = OutcomeTestRequest.model_validate(
        {
            "kind": "outcome-test",
            "audience_id": "audience_" + "0" * 30,
            "log": "jobs",
            "bins": {"edges": np.linspace(0, 1, BINS + 1).tolist()},
            "outcome_range": {"low": 0, "high": 1},
            "rows_per_person": most,
            "epsilon": "1",
        }
    )
    logs = ParquetLogs(path.parent, {"jobs": _LOG})
    platform = Platform("bench", people=None, logs=logs)  # type: ignore[arg-type]
    kind = KINDS["outcome-test"]
    plan = kind.plan(request, AudienceFacts(("g0", "g1"), 1, None))

    def ours() -> np.ndarray:
        return kind.reduce(request, plan, [], membership, in_process_context(platform))[
            "moments"
        ].cells

    def bare() -> int:
        return _bare(path, groups) if most == ROWS_EACH else _bare_drawn(path, groups)

    counted = int(ours()[:, :, 0].sum()) // 2**20
    assert counted == bare() == most * len(people)
    name = f"outcome moments of {rows:,} logged rows, {most} a person"
    return compare(name, ours, bare, goal=GOAL, command=COMMAND, rounds=3)


def _bare(path: Path, groups: pl.DataFrame) -> int:
    """Aggregate all rows by Polars."""
    u = (pl.col("score") * BINS) % 1 * 2 - 1
    v = pl.col("outcome") * 2 - 1
    place = (pl.col("score") * BINS).floor().clip(0, BINS - 1).cast(pl.Int32)
    found = (
        pl.scan_parquet(path)
        .join(groups.lazy(), on="person")
        .select("group", place.alias("bin"), u.alias("u"), v.alias("v"))
        .group_by("group", "bin")
        .agg(
            pl.len().alias("count"),
            pl.col("v").sum(),
            pl.col("u").sum(),
            (pl.col("u") ** 2).sum().alias("uu"),
            (pl.col("u") * pl.col("v")).sum().alias("uv"),
            (pl.col("v") ** 2).sum().alias("vv"),
        )
        .collect()
    )
    return int(found["count"].sum())


def _bare_drawn(path: Path, groups: pl.DataFrame) -> int:
    """Aggregate one random row of each person by DuckDB."""
    with duckdb.connect() as connection:
        connection.register("members", groups.to_arrow())
        found = connection.execute(
            f"""
            WITH one AS (
                SELECT person, arg_max({{'s': score, 'y': outcome}}, random()) AS row
                FROM '{path}' GROUP BY person
            ),
            scaled AS (
                SELECT "group", least(floor(row.s * {BINS}), {BINS} - 1) AS bin,
                       (row.s * {BINS}) % 1 * 2 - 1 AS u, row.y * 2 - 1 AS v
                FROM one JOIN members USING (person)
            )
            SELECT count(*), sum(v), sum(u), sum(u * u), sum(u * v), sum(v * v)
            FROM scaled GROUP BY "group", bin
            """
        ).fetchall()
    return sum(row[0] for row in found)
