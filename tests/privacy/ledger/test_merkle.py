"""The tree against hashes computed by others, and against the RFC's recursion written out."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from privacy.errors import ProofError
from privacy.ledger.merkle import (
    EMPTY_ROOT,
    Frontier,
    consistency_path,
    inclusion_path,
    leaf_hash,
    node_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from tests.refusals import refuses

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "ledger" / "merkle.json").read_text()
)
ROOTS = [bytes.fromhex(root) for root in VECTORS["roots"]]
EIGHT = [leaf_hash(bytes.fromhex(leaf)) for leaf in VECTORS["leaves"]]

LARGEST = 70
LEAVES = [leaf_hash(b"entry %d" % number) for number in range(LARGEST)]


@cache
def tree_hash(start: int, end: int) -> bytes:
    """MTH(D[start:end]), slowly and obviously: RFC 9162, §2.1.1."""
    if start == end:
        return EMPTY_ROOT
    if end - start == 1:
        return LEAVES[start]
    k = 1
    while 2 * k < end - start:
        k *= 2
    return node_hash(tree_hash(start, start + k), tree_hash(start + k, end))


ROOT = [tree_hash(0, size) for size in range(LARGEST + 1)]


def unhex(path: list[str]) -> list[bytes]:
    return [bytes.fromhex(one) for one in path]


def eight(start: int, end: int) -> bytes:
    return root_of(EIGHT[start:end])


def test_the_roots_of_the_certificate_transparency_tree() -> None:
    assert ROOTS[0] == EMPTY_ROOT
    frontier = Frontier()
    assert frontier.root() == EMPTY_ROOT
    for size, leaf in enumerate(VECTORS["leaves"], start=1):
        frontier.extend([bytes.fromhex(leaf)])
        assert frontier.size == size
        assert frontier.root() == root_of(EIGHT[:size]) == ROOTS[size]


@pytest.mark.parametrize("case", VECTORS["inclusion"], ids=str)
def test_inclusion_paths_of_the_certificate_transparency_tree(case: dict[str, Any]) -> None:
    index, size, path = case["index"], case["size"], unhex(case["path"])
    assert inclusion_path(index, size, eight) == path
    verify_inclusion(EIGHT[index], index, size, path, ROOTS[size])


@pytest.mark.parametrize("case", VECTORS["consistency"], ids=str)
def test_consistency_paths_of_the_certificate_transparency_tree(case: dict[str, Any]) -> None:
    old, new, path = case["old"], case["new"], unhex(case["path"])
    assert consistency_path(old, new, eight) == path
    verify_consistency(old, new, ROOTS[old], ROOTS[new], path)


def test_the_example_of_the_rfc() -> None:
    """RFC 9162, §2.1.5: seven leaves, their nodes by letter."""
    a, b, c, d, e, f, j = EIGHT[:7]
    g, h, i = node_hash(a, b), node_hash(c, d), node_hash(e, f)
    k, l = node_hash(g, h), node_hash(i, j)  # noqa: E741  the RFC's own letter
    assert root_of(EIGHT[:7]) == node_hash(k, l)
    assert inclusion_path(0, 7, eight) == [b, h, l]
    assert inclusion_path(3, 7, eight) == [c, g, l]
    assert inclusion_path(4, 7, eight) == [f, j, k]
    assert inclusion_path(6, 7, eight) == [i, k]
    assert consistency_path(3, 7, eight) == [c, d, g, l]
    assert consistency_path(4, 7, eight) == [l]
    assert consistency_path(6, 7, eight) == [i, j, k]


def test_roots_are_those_of_the_recursion() -> None:
    frontier = Frontier()
    for size in range(LARGEST + 1):
        assert root_of(LEAVES[:size]) == frontier.root() == ROOT[size]
        if size < LARGEST:
            frontier.extend([b"entry %d" % size])


def test_every_entry_of_every_tree_is_proved_and_no_other() -> None:
    for size in range(1, LARGEST + 1):
        for index in range(size):
            path = inclusion_path(index, size, tree_hash)
            verify_inclusion(LEAVES[index], index, size, path, ROOT[size])
            with pytest.raises(ProofError):
                verify_inclusion(LEAVES[index - 1], index, size, path, ROOT[size])
            for other in {0, index - 1, index + 1, index ^ 1, size - 1, size} - {index}:
                with pytest.raises(ProofError):
                    verify_inclusion(LEAVES[index], other, size, path, ROOT[size])


def test_every_tree_begins_with_every_smaller_one_and_no_other() -> None:
    for new in range(1, LARGEST + 1):
        for old in range(1, new + 1):
            path = consistency_path(old, new, tree_hash)
            verify_consistency(old, new, ROOT[old], ROOT[new], path)
            for older, newer in ((old - 1, new), (old + 1, new), (old, new - 1), (new, old)):
                if (older, newer) != (old, new):
                    with pytest.raises(ProofError):
                        verify_consistency(
                            older, newer, ROOT[min(older, LARGEST)], ROOT[newer], path
                        )
            with pytest.raises(ProofError):
                verify_consistency(old, new, ROOT[old - 1], ROOT[new], path)
            with pytest.raises(ProofError):
                verify_consistency(old, new, ROOT[old], ROOT[new - 1], path)


def damaged(path: list[bytes]) -> list[list[bytes]]:
    """One byte flipped, a hash too many or too few, two swapped, one of a wrong length."""
    flipped = [
        [*path[:at], one[:byte] + bytes([one[byte] ^ 1]) + one[byte + 1 :], *path[at + 1 :]]
        for at, one in enumerate(path)
        for byte in range(len(one))
    ]
    dropped = [path[:at] + path[at + 1 :] for at in range(len(path))]
    added = [
        [*path[:at], extra, *path[at:]] for at in range(len(path) + 1) for extra in (LEAVES[0], b"")
    ]
    swapped = [[*path[:at], path[at + 1], path[at], *path[at + 2 :]] for at in range(len(path) - 1)]
    resized = [
        [*path[:at], other, *path[at + 1 :]]
        for at, one in enumerate(path)
        for other in (one[:-1], one + b"\0", b"")
    ]
    return flipped + dropped + added + swapped + resized


SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 16, 33, 64, 70]


@pytest.mark.parametrize("size", SIZES)
def test_a_damaged_inclusion_proof_is_refused(size: int) -> None:
    for index in {0, size // 2, size - 1}:
        for path in damaged(inclusion_path(index, size, tree_hash)):
            with pytest.raises(ProofError):
                verify_inclusion(LEAVES[index], index, size, path, ROOT[size])


@pytest.mark.parametrize("new", SIZES)
def test_a_damaged_consistency_proof_is_refused(new: int) -> None:
    for old in {1, (new + 1) // 2, new - 1, new} - {0}:
        for path in damaged(consistency_path(old, new, tree_hash)):
            with pytest.raises(ProofError):
                verify_consistency(old, new, ROOT[old], ROOT[new], path)


@pytest.mark.parametrize(("index", "size"), [(0, 0), (1, 1), (-1, 3), (3, 3), (7, 3), (0, -1)])
def test_there_is_no_proof_of_an_entry_outside_the_tree(index: int, size: int) -> None:
    with refuses(ProofError, "no-such-entry"):
        inclusion_path(index, size, tree_hash)
    with refuses(ProofError, "no-such-entry"):
        verify_inclusion(LEAVES[0], index, size, [], LEAVES[0])


@pytest.mark.parametrize(("old", "new"), [(0, 0), (0, 5), (-1, 5), (6, 5), (5, 0), (5, -5)])
def test_no_tree_begins_with_nothing_or_with_a_larger_one(old: int, new: int) -> None:
    with refuses(ProofError, "not-the-beginning"):
        consistency_path(old, new, tree_hash)
    for path in ([], [ROOT[5]], [ROOT[5], ROOT[5]]):
        with refuses(ProofError, "not-the-beginning"):
            verify_consistency(old, new, ROOT[5], ROOT[5], path)


def test_roots_and_leaves_of_a_wrong_length_are_refused() -> None:
    for odd in (b"", LEAVES[0][:-1], LEAVES[0] + b"\0"):
        with refuses(ProofError, "hash-size"):
            verify_inclusion(odd, 0, 1, [], odd)
        with refuses(ProofError, "hash-size"):
            verify_consistency(1, 1, odd, odd, [])


def test_a_tree_begins_with_itself_alone() -> None:
    verify_consistency(5, 5, ROOT[5], ROOT[5], [])
    with pytest.raises(ProofError):
        verify_consistency(5, 5, ROOT[5], ROOT[4], [])


def test_an_entry_cannot_pass_for_a_node() -> None:
    left, right = LEAVES[:2]
    assert leaf_hash(left + right) != node_hash(left, right)
    assert leaf_hash(b"") != EMPTY_ROOT
