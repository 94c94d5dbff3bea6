"""The noisy tree: noise for every level, and nodes that are sums of their leaves."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privacy.tables.bounded_table import Bounds, Reach, Table
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE
from privacy.waist import DiscreteLaplace, LaplaceTree
from privacy.waist.tree import _tree, levels, nodes_of_prefix, worst_prefix

# Leaves, branching, levels: root and leaves are levels, too.
LEVELS = [
    (1, 2, 1),
    (2, 2, 2),
    (3, 2, 3),
    (4, 2, 3),
    (5, 2, 4),
    (8, 2, 4),
    (9, 2, 5),
    (9, 3, 3),
    (10, 3, 4),
    (16, 4, 3),
    (17, 4, 4),
    (100, 10, 3),
    (101, 10, 4),
]


@pytest.mark.parametrize(("leaves", "branching", "expected"), LEVELS)
def test_levels_are_counted_with_root_and_leaves(
    leaves: int, branching: int, expected: int
) -> None:
    assert levels(leaves, branching) == expected


@pytest.mark.parametrize("leaves", [2, 3, 4, 7, 8, 9, 31, 100])
def test_a_leaf_moves_one_node_on_every_level_and_noise_is_for_all_of_them(leaves: int) -> None:
    mechanism = LaplaceTree(Bounds.counts((1, leaves), 1), Fraction(1))
    tree = _tree(leaves, mechanism.branching)
    nothing = np.asarray(tree(np.zeros(leaves, np.int64)))
    moved = [
        int(np.abs(np.asarray(tree(leaf)) - nothing).sum()) for leaf in np.eye(leaves, dtype=int)
    ]
    assert set(moved) == {levels(leaves, mechanism.branching)}
    assert mechanism.nodes.bounds.added.l1 == moved[0]
    assert mechanism.nodes.bounds.changed.l1 == 2 * moved[0]
    assert mechanism.nodes.bounds.shape == (1, len(nothing))
    assert mechanism.scale == pytest.approx(moved[0])


def test_the_scale_is_levels_times_reach_over_epsilon() -> None:
    for reach in (1, 2, 5):
        mechanism = LaplaceTree(Bounds.counts((3, 64), reach), Fraction(1, 2))
        depth = levels(64, mechanism.branching)
        assert mechanism.scale == pytest.approx(depth * reach * 2)
        assert mechanism.price.amount("epsilon", ADD_REMOVE) == Fraction(1, 2)
        assert mechanism.price.amount("epsilon", CHANGE_ONE) == 1


def test_rows_that_fall_on_one_leaf_move_a_node_as_often() -> None:
    """The nodes of one table hold what m rows of k groups add, level by level."""
    leaves = Bounds.rows((2, 8), Reach(1, 1, 1), 3, 2)
    nodes = LaplaceTree(leaves, Fraction(1)).nodes
    depth = nodes.bounds.added.l1 // 6
    assert nodes.bounds.added == Reach(6 * depth, 36 * depth, 6)
    assert nodes.bounds.changed == Reach(12 * depth, 144 * depth, 12)
    assert nodes.bounds.shape[0] == 2


def test_noise_is_on_all_leaves_and_its_size_is_that_of_the_scale() -> None:
    """500 trees of 4 leaves: released squares are those of the noise on the nodes.

    The variance of a leaf is never below 2/3 of a node's (least squares of levels): the sum of
    squares of 2,000 leaves is below a quarter of what is expected with probability below 1e-9.
    """
    mechanism = LaplaceTree(Bounds.counts((500, 4), 1), Fraction(1, 100))
    table = Table.zeros(mechanism.bounds)
    found = mechanism.release(table)
    assert found.shape == (500, 4)
    expected = mechanism.nodes.standard_deviation**2
    assert np.mean(found**2) > expected / 4


def test_without_noise_the_leaves_come_out_as_they_went_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounds = Bounds.counts((2, 9), 1)
    cells = np.arange(18).reshape(2, 9)
    mechanism = LaplaceTree(bounds, Fraction(1))
    nodes = type(mechanism.nodes)
    monkeypatch.setattr(nodes, "noise", lambda self: np.zeros(self.bounds.shape, np.int64))
    assert mechanism.release(Table(bounds, cells)) == pytest.approx(cells)


def test_leaves_are_made_consistent_with_the_nodes_above_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the noise of the root says about everybody is shared out among the leaves."""
    noise = np.zeros((1, 7), np.int64)
    noise[0, 0] = 70
    monkeypatch.setattr(LaplaceTree, "branching", 2)
    monkeypatch.setattr(DiscreteLaplace, "noise", lambda _: noise)
    [found] = released(np.zeros((1, 4), np.int64))
    # Weights of the root and of the sum of its children are as 7 to 3 in least squares: 4/7 of it.
    assert found == pytest.approx([10.0] * 4)


@pytest.mark.parametrize("far", [2**62, 2**63 - 1])
def test_noise_at_the_end_of_64_bits_does_not_turn_its_sign(
    far: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DiscreteLaplace, "noise", lambda self: np.full(self.bounds.shape, far))
    [found] = released(np.full((1, 4), 10, np.int64))
    assert (found > 0).all()


def released(cells: Any) -> Any:
    bounds = Bounds.counts(cells.shape, 1)
    return LaplaceTree(bounds, Fraction(1)).release(Table(bounds, cells))


@pytest.mark.parametrize(("leaves", "branching"), [(8, 2), (9, 3), (100, 10)])
def test_a_running_sum_takes_all_but_one_node_of_each_level(leaves: int, branching: int) -> None:
    most = (levels(leaves, branching) - 1) * (branching - 1)
    assert nodes_of_prefix(leaves, branching) == most
    assert 1 <= worst_prefix(leaves, branching) <= np.sqrt(most) + 1e-9
