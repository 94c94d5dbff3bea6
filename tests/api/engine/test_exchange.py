"""Rows and people that lie anywhere come together by person, in order, none lost and none twice."""

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from api.engine import partitions
from api.engine.exchange import Gathered, scattered
from api.platform import Wanted
from privacy.membership import Membership
from tests.api.engine.adapter import FEED, FILES, PEOPLE, make, write_feed

COUNT = 5
WANTED = Wanted("feed", ("score", "strategy"))


def test_everybody_is_in_one_partition_with_all_of_their_groups() -> None:
    rng = np.random.default_rng(1)
    uploaded = [rng.integers(0, 500, 900) for _ in range(4)]
    membership = Membership.cut(uploaded, 2)
    parts = partitions.parts(membership, COUNT)
    homes = [set(part.everyone().tolist()) for part in parts]
    assert sum(map(len, homes)) == len(set.union(*homes)) == len(membership.everyone())
    for number, group in enumerate(membership.groups):
        together = np.sort(np.concatenate([part.groups[number] for part in parts]))
        assert together.tolist() == group.tolist()
    # Cut before or after the exchange is the same: a person's own groups decide.
    where = [partitions.of_persons(group, COUNT) for group in uploaded]
    for home, part in enumerate(parts):
        rows = [group[at == home] for group, at in zip(uploaded, where, strict=True)]
        later = Membership.cut(rows, 2)
        assert [group.tolist() for group in later.groups] == [g.tolist() for g in part.groups]


def test_partitions_are_of_one_size_whoever_the_people_are() -> None:
    for persons in (np.arange(60_000), np.arange(60_000) * 1_024, 2**40 - np.arange(60_000)):
        sizes = np.bincount(partitions.of_persons(persons, 6), minlength=6)
        # Eight deviations of a binomial count of 60,000 at 1/6, 91 each: below 1e-14 if by chance.
        assert np.abs(sizes - 10_000).max() < 730


def test_equal_keys_go_together() -> None:
    keys = np.array([0.0, -0.0, 3.0, 7.5, 3.0, 1e300])
    where = partitions.of_keys(keys, 4096)
    assert where[0] == where[1]
    assert where[2] == where[4]
    assert len(set(where.tolist())) == 4
    rows = partitions.columns_apart({"key": keys, "at": np.arange(6)}, where, 4096)
    assert rows[where[2]]["at"].tolist() == [2, 4]


def test_rows_of_a_person_come_together_in_the_order_of_the_pieces(tmp_path: Path) -> None:
    write_feed(tmp_path)
    pieces, everyone = make(str(tmp_path)).pieces, np.arange(0, PEOPLE, 2)
    assert pieces is not None
    shares = [scattered(pieces, WANTED, piece, everyone, COUNT) for piece in pieces.pieces("feed")]
    assert len(shares) == FILES
    files = [pl.read_parquet(tmp_path / "feed" / f"{number}.parquet") for number in range(FILES)]
    columns = ["person", "score", "strategy"]
    texts = [file.select(columns).cast({"strategy": pl.String}) for file in files]
    every = pl.concat(texts).filter(pl.col("person").is_in(everyone.tolist()))
    seen = 0
    for home in range(COUNT):
        gathered = Gathered.of({"feed": FEED}, WANTED, [share[home] for share in shares])
        mine = everyone[partitions.of_persons(everyone, COUNT) == home]
        batches = gathered.read("feed", mine, WANTED.columns)
        found = pl.DataFrame(pa.Table.from_batches(batches)).cast({"strategy": pl.String})
        expected = every.filter(pl.col("person").is_in(mine.tolist()))
        assert found.equals(expected.sort("person", maintain_order=True))
        seen += len(found)
    assert seen == len(every)


def test_pieces_without_rows_are_rows_of_nobody() -> None:
    class Empty:
        def pieces(self, log: str) -> list[str]:
            return ["one"]

        def scan(self, log: str, piece: str, columns: object) -> list[pa.RecordBatch]:
            return []

    shares = scattered(Empty(), WANTED, "one", np.arange(3), 2)
    gathered = Gathered.of({"feed": FEED}, WANTED, shares)
    assert sum(map(len, gathered.read("feed", np.arange(3), ["score"]))) == 0
    assert sum(map(len, gathered.read("feed", np.empty(0, np.int64), ["score"]))) == 0
