"""The tree from stored tiles is the tree in memory, and reads little."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import sha256

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privacy.errors import ProofError
from privacy.ledger.merkle import (
    EMPTY_ROOT,
    consistency_path,
    inclusion_path,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from privacy.ledger.tiles import TILE, Tree
from tests.refusals import refuses

LARGEST = 2 * TILE**2 + TILE + 3
EDGES = [
    edge + step
    for edge in (1, TILE, 2 * TILE, TILE**2, TILE**2 + TILE, 2 * TILE**2)
    for step in (-1, 0, 1)
    if edge + step
]
sizes = st.sampled_from(EDGES) | st.integers(1, LARGEST)


class Store:
    """Complete tiles in memory; counts what is read."""

    def __init__(self) -> None:
        leaves = [sha256(b"%d" % number).digest() for number in range(LARGEST)]
        self.levels = [leaves]
        while len(row := self.levels[-1]) >= TILE:
            ends = range(TILE, len(row) + 1, TILE)
            self.levels.append([root_of(row[end - TILE : end]) for end in ends])
        self.read: Counter[int] = Counter()

    def hashes(self, level: int, start: int, stop: int) -> Sequence[bytes]:
        self.read[level] += stop - start
        return self.levels[level][start:stop]


STORE = Store()
TREE = Tree(STORE.hashes)


@cache
def plain(start: int, end: int) -> bytes:
    return root_of(STORE.levels[0][start:end])


def test_the_store_has_three_levels() -> None:
    assert [len(level) for level in STORE.levels] == [LARGEST, 2 * TILE + 1, 2]


@pytest.mark.parametrize("size", EDGES)
def test_the_root_at_every_edge(size: int) -> None:
    assert TREE.root(size) == plain(0, size)


def test_the_root_of_nothing() -> None:
    assert TREE.root(0) == EMPTY_ROOT


@settings(max_examples=60)
@given(sizes, st.data())
def test_an_entry_is_proved_from_tiles(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    path = inclusion_path(index, size, TREE.subtree)
    verify_inclusion(STORE.levels[0][index], index, size, path, plain(0, size))


@settings(max_examples=60)
@given(sizes, sizes)
@example(TILE, TILE**2)
@example(TILE**2, 2 * TILE**2 + 1)
@example(TILE**2 - 1, TILE**2 + 1)
def test_consistency_is_proved_from_tiles(one: int, other: int) -> None:
    old, new = sorted((one, other))
    path = consistency_path(old, new, TREE.subtree)
    verify_consistency(old, new, plain(0, old), plain(0, new), path)


@settings(max_examples=200)
@given(st.integers(0, 17), st.data())
def test_any_subtree_is_that_in_memory(height: int, data: st.DataObject) -> None:
    """Complete or cut at the right edge, anywhere."""
    start = data.draw(st.integers(0, (LARGEST - 1) >> height)) << height
    end = min(LARGEST, start + data.draw(st.integers(1, 1 << height) | st.just(1 << height)))
    STORE.read.clear()
    assert TREE.subtree(start, end) == plain(start, end)
    assert max(STORE.read.values()) <= TILE


@pytest.mark.parametrize("size", [LARGEST, 2 * TILE**2, 2 * TILE**2 - 1])
def test_a_proof_reads_a_few_hundred_hashes_of_each_level(size: int) -> None:
    STORE.read.clear()
    inclusion_path(size // 3, size, TREE.subtree)
    assert max(STORE.read.values()) <= 3 * TILE


@pytest.mark.parametrize(
    ("start", "end"), [(0, 0), (5, 5), (6, 5), (-2, 0), (1, 3), (2, 5), (256, 600)]
)
def test_what_no_proof_asks_for_is_refused(start: int, end: int) -> None:
    with refuses(ProofError, "not-a-subtree"):
        TREE.subtree(start, end)


def test_lost_hashes_are_noticed() -> None:
    with refuses(ProofError, "lost-hashes"):
        TREE.root(LARGEST + 1)


def test_a_tree_that_grows_stores_what_its_tiles_need() -> None:
    """Appended one by one; what is complete is stored after it was asked for, never before."""
    levels: list[list[bytes]] = [[], [], [], []]
    grown = Tree(lambda level, start, stop: levels[level][start:stop])
    for size, leaf in enumerate(STORE.levels[0], start=1):
        levels[0].append(leaf)
        for level, done in enumerate(grown.completed(size), start=1):
            assert len(levels[level]) == size // TILE**level - 1
            levels[level].append(done)
    assert levels == [*STORE.levels, []]
