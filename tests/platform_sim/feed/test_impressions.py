"""The log of a feed: sorted by viewer, read by column, of the paper's shape and size."""

import time
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from platform_sim import Feed, Impressions, World
from platform_sim.feed.signals import SIGNALS

LOG = Impressions(World(3, 2_000), days=2, rows_per_day=8_000)


def test_the_description_names_every_column_and_value() -> None:
    described = LOG.logs()["feed"]
    assert described["person"] == "viewer"
    assert described["traffic"]["random"] == "random"
    for name, values in described["words"].items():
        there = set(LOG.table[name].cast(pa.string()).unique().to_pylist())
        assert there == set(values)
    for name in described["numbers"]:
        assert set(LOG.table[name].unique().to_pylist()) == {0, 1}


def test_without_activation_no_random_traffic_is_offered() -> None:
    quiet = Impressions(World(3, 2_000), Feed(activation=0.0))
    assert quiet.logs()["feed"]["traffic"]["random"] is None


def test_rows_of_some_viewers_are_exactly_theirs() -> None:
    persons = np.array([0, 7, 8, 1_999, 5_000_000])
    found = pa.Table.from_batches(LOG.read("feed", persons, ["day", "share"]))
    whole = LOG.table.filter(pa.compute.is_in(LOG.table["person"], pa.array(persons)))
    assert found.column_names == ["person", "day", "share"]
    assert found["person"].to_pylist() == whole["person"].to_pylist()
    assert found["share"].to_pylist() == whole["share"].to_pylist()
    assert sum(batch.num_rows for batch in LOG.read("feed", persons[:0], ["day"])) == 0
    with pytest.raises(ValueError, match="'other'"):
        list(LOG.read("other", persons, ["day"]))


def test_the_same_seed_gives_the_same_log() -> None:
    again = Impressions(World(3, 2_000), days=2, rows_per_day=8_000)
    assert again.table.equals(LOG.table)
    assert (np.diff(LOG.table["person"].to_numpy()) >= 0).all()


def test_files_by_traffic(tmp_path: Path) -> None:
    paths = LOG.write_parquet(tmp_path)
    assert set(paths) == set(LOG.feed.traffics)
    rows = {name: pl.read_parquet(path) for name, path in paths.items()}
    assert sum(map(len, rows.values())) == LOG.table.num_rows
    assert set(SIGNALS) < set(rows["random"].columns)


@pytest.mark.full
def test_the_papers_size_takes_seconds() -> None:
    started = time.perf_counter()
    log = Impressions(World(1, 200_000), Feed(), 14, 150_000)
    rows = log.table["strategy"].cast(pa.string()).value_counts().to_pylist()
    seconds = time.perf_counter() - started
    counts = {row["values"]: row["counts"] for row in rows}
    assert counts["default"] + counts.get("boosted", 0) == pytest.approx(2_100_000, rel=0.01)
    assert counts["random"] == pytest.approx(300_000, rel=0.02)
    assert seconds < 60
