"""Rows and people that lie anywhere come together by person, in order, none lost and none twice."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from api.kinds.building_blocks.log_rows import Selection, draw_rows, new_secret
from api.platforms import partitions
from api.platforms.interfaces import LogColumns
from api.platforms.row_exchange import GatheredLogs, scatter_piece
from privacy.tables.membership import Membership
from tests.api.execution.adapter import FEED, FILES, PEOPLE, make, write_feed

COUNT = 5
WANTED = LogColumns("feed", ("score", "strategy"))


def test_everybody_is_in_one_partition_with_all_of_their_groups() -> None:
    rng = np.random.default_rng(1)
    uploaded = [rng.integers(0, 500, 900) for _ in range(4)]
    membership = Membership.from_groups(uploaded, 2)
    parts = partitions.split_by_partition(membership, COUNT)
    homes = [set(part.everyone().tolist()) for part in parts]
    assert sum(map(len, homes)) == len(set.union(*homes)) == len(membership.everyone())
    for number, group in enumerate(membership.groups):
        together = np.sort(np.concatenate([part.groups[number] for part in parts]))
        assert together.tolist() == group.tolist()
    # Cut before or after the exchange is the same: a person's own groups decide.
    where = [partitions.partition_persons(group, COUNT) for group in uploaded]
    for home, part in enumerate(parts):
        rows = [group[at == home] for group, at in zip(uploaded, where, strict=True)]
        later = Membership.from_groups(rows, 2)
        assert [group.tolist() for group in later.groups] == [g.tolist() for g in part.groups]


def test_partitions_have_one_size_independent_of_the_people() -> None:
    for persons in (np.arange(60_000), np.arange(60_000) * 1_024, 2**40 - np.arange(60_000)):
        sizes = np.bincount(partitions.partition_persons(persons, 6), minlength=6)
        # Eight deviations of a binomial count of 60,000 at 1/6, 91 each: below 1e-14 if by chance.
        assert np.abs(sizes - 10_000).max() < 730


@pytest.mark.parametrize("count", [1, COUNT, 700])
def test_ranges_have_everybody_once_with_all_of_their_groups(count: int) -> None:
    rng = np.random.default_rng(2)
    uploaded = [rng.integers(0, 500, 900), rng.integers(400, 9_000, 70), rng.integers(0, 1, 0)]
    membership = Membership.from_groups(uploaded, 2)
    parts = partitions.split_by_range(membership, count)
    assert len(parts) == count
    assert sum(len(part.everyone()) for part in parts) == len(membership.everyone())
    for number, group in enumerate(membership.groups):
        assert np.concatenate([part.groups[number] for part in parts]).tolist() == group.tolist()
    nobody = Membership((np.empty(0, np.int64),), 1)
    assert [len(part.everyone()) for part in partitions.split_by_range(nobody, count)] == [
        0
    ] * count


def test_ranges_are_of_one_size_wherever_the_groups_are() -> None:
    apart = (np.arange(90_000), np.arange(2**40, 2**40 + 30_000))
    among = (np.arange(0, 90_000, 3), np.arange(1, 90_000, 3))
    for groups in (apart, among):
        sizes = [
            len(part.everyone()) for part in partitions.split_by_range(Membership(groups, 1), 6)
        ]
        assert max(sizes) < 1.05 * sum(sizes) / 6


def test_equal_keys_go_together() -> None:
    keys = np.array([0.0, -0.0, 3.0, 7.5, 3.0, 1e300])
    where = partitions.partition_keys(keys, 4096)
    assert where[0] == where[1]
    assert where[2] == where[4]
    assert len(set(where.tolist())) == 4
    rows = partitions.split_columns({"key": keys, "at": np.arange(6)}, where, 4096)
    assert rows[where[2]]["at"].tolist() == [2, 4]


def test_rows_of_a_person_come_together_in_the_order_of_the_pieces(tmp_path: Path) -> None:
    write_feed(tmp_path)
    pieces, everyone = make(str(tmp_path)).pieces, np.arange(0, PEOPLE, 2)
    assert pieces is not None
    shares = [
        scatter_piece(pieces, FEED, WANTED, piece, everyone, COUNT)
        for piece in pieces.pieces("feed")
    ]
    assert len(shares) == FILES
    files = [pl.read_parquet(tmp_path / "feed" / f"{number}.parquet") for number in range(FILES)]
    columns = ["person", "score", "strategy"]
    texts = [file.select(columns).cast({"strategy": pl.String}) for file in files]
    every = pl.concat(texts).filter(pl.col("person").is_in(everyone.tolist()))
    seen = 0
    for home in range(COUNT):
        gathered = GatheredLogs.of({"feed": FEED}, WANTED, [share[home] for share in shares])
        mine = everyone[partitions.partition_persons(everyone, COUNT) == home]
        batches = gathered.read("feed", mine, WANTED.columns)
        found = pl.DataFrame(pa.Table.from_batches(batches)).cast({"strategy": pl.String})
        expected = every.filter(pl.col("person").is_in(mine.tolist()))
        assert found.equals(expected.sort("person", maintain_order=True))
        seen += len(found)
    assert seen == len(every)


@dataclass
class Batches:
    """One piece, of batches as they are."""

    batches: list[Any]

    def pieces(self, log: str) -> list[str]:
        return ["one"]

    def scan(self, log: str, piece: str, columns: object) -> list[Any]:
        return self.batches


def gathered_scores(batches: list[Any], people: int = 40) -> dict[int, list[float]]:
    """Scores of the rows that are used after an exchange, by person."""
    everyone = np.arange(people)
    shares = scatter_piece(Batches(batches), FEED, WANTED, "one", everyone, COUNT)
    asked = Selection("feed", ("score",), {"strategy": ("usual", "random")}, 9)
    found: dict[int, list[float]] = {}
    for share in shares:
        logs = GatheredLogs.of({"feed": FEED}, WANTED, [share])
        for _, rows in draw_rows(logs, asked, Membership((everyone,), 1), new_secret()):
            for person, score in zip(rows.person, rows.numbers["score"], strict=True):
                found.setdefault(int(person), []).append(float(score))
    return found


def batch(**changes: Any) -> pa.RecordBatch:
    """A row of each of forty people."""
    rows = {"person": np.arange(40), "score": np.arange(40) / 100, "strategy": ["usual"] * 40}
    return pa.RecordBatch.from_pydict(rows | changes)


def but_9(odd: Any, usual: Callable[[int], Any]) -> list[Any]:
    return [odd if n == 9 else usual(n) for n in range(40)]


ODD: dict[str, pa.RecordBatch] = {
    "half a person": batch(person=but_9(2.5, float)),
    "no number": batch(person=but_9(np.nan, float)),
    "endless": batch(person=but_9(np.inf, float)),
    "nobody": batch(person=pa.array(but_9(None, int), pa.int64())),
    "too large": batch(person=pa.array(but_9(2**63 + 9, int), pa.uint64())),
    "words for people": batch(person=but_9("person 9", str)),
    "words for numbers": batch(score=but_9("person 9", lambda n: str(n / 100))),
    "no score": batch(score=pa.array(but_9(None, lambda n: n / 100), pa.float64())),
    "another word": batch(strategy=but_9("never", lambda n: "usual")),
    "no word": batch(strategy=pa.array(but_9(None, lambda n: "random"), pa.string())),
}


@pytest.mark.parametrize("odd", ODD)
def test_a_row_that_cannot_be_used_is_dropped_and_no_other(odd: str) -> None:
    assert gathered_scores([ODD[odd]]) == {n: [n / 100] for n in range(40) if n != 9}


@pytest.mark.parametrize(
    "odd",
    [
        batch().drop_columns(["score"]),
        batch().drop_columns(["person"]),
        batch(person=[[n] for n in range(40)]),
        batch(score=[{"is": n} for n in range(40)]),
        object(),
        None,
    ],
    ids=["no score", "no person", "lists", "records", "an object", "nothing"],
)
def test_a_batch_that_cannot_be_used_takes_no_other_along(odd: Any) -> None:
    assert gathered_scores([odd, batch(), odd]) == {n: [n / 100] for n in range(40)}


def test_batches_may_be_of_other_types() -> None:
    codes = pa.array(["random"] * 40).dictionary_encode()
    kinds = [
        batch(),
        batch(score=np.ones(40, np.bool_), person=np.arange(40, dtype=np.uint16)),
        batch(score=np.ones(40, np.float32), strategy=codes),
        batch(score=np.ones(40, np.uint64), person=[float(n) for n in range(40)]),
        batch(score=["1"] * 40, extra=np.arange(40)),
    ]
    assert gathered_scores(kinds) == {n: [n / 100, 1.0, 1.0, 1.0, 1.0] for n in range(40)}


def test_pieces_without_rows_are_rows_of_nobody() -> None:
    shares = scatter_piece(Batches([]), FEED, WANTED, "one", np.arange(3), 2)
    gathered = GatheredLogs.of({"feed": FEED}, WANTED, shares)
    assert sum(map(len, gathered.read("feed", np.arange(3), ["score"]))) == 0
    assert sum(map(len, gathered.read("feed", np.empty(0, np.int64), ["score"]))) == 0
