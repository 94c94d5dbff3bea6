"""Tables are what their bounds say, or they are not made."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.errors import BoundsError
from privacy.tables.bounded_table import Bounds, Cells, Reach, Table

BOUNDS = Bounds.counts((2, 3), cells_per_person=1)


def test_changing_a_person_moves_counts_twice_as_far_as_adding_one() -> None:
    bounds = Bounds.counts((4,), 3)
    assert (bounds.added, bounds.changed) == (Reach(3, 3, 1), Reach(6, 6, 1))


def test_cells_have_the_shape_and_type_of_the_bounds() -> None:
    for cells in (
        np.zeros((3, 2), np.int64),
        np.zeros(6, np.int64),
        np.zeros((2, 3, 1), np.int64),
        np.zeros((2, 3), np.int32),
        np.zeros((2, 3), np.float64),
        np.zeros((2, 3), np.uint64),
    ):
        with pytest.raises(BoundsError):
            Table(BOUNDS, cells)  # type: ignore[arg-type]
    assert Table.zeros(BOUNDS).cells.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_tables_of_different_bounds_do_not_add() -> None:
    for other in (
        Bounds.counts((3, 2), 1),
        Bounds.counts((2, 3), 2),
        Bounds((2, 3), Reach(1, 1, 1), Reach(1, 1, 1)),
    ):
        with pytest.raises(BoundsError):
            Table.zeros(BOUNDS) + Table.zeros(other)


def test_a_cell_outside_of_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        Table.tally(BOUNDS, np.array([6]))
    with pytest.raises(ValueError, match="negative"):
        Table.tally(BOUNDS, np.array([-1]))


@given(st.lists(st.lists(st.integers(0, 5), max_size=20), max_size=5))
def test_tallies_of_batches_add_up_to_the_tally_of_all(batches: list[list[int]]) -> None:
    total = Table.zeros(BOUNDS)
    for batch in batches:
        total += Table.tally(BOUNDS, np.array(batch, np.intp))
    everybody = [cell for batch in batches for cell in batch]
    assert total.cells.ravel().tolist() == [everybody.count(cell) for cell in range(6)]


def test_adding_leaves_the_summands_as_they_were() -> None:
    one = Table.tally(BOUNDS, np.array([0]))
    both = one + one
    assert both.cells[0, 0] == 2
    assert one.cells[0, 0] == 1


def test_noise_goes_onto_a_copy() -> None:
    table = Table.tally(BOUNDS, np.array([5]))
    assert table.plus(np.full((2, 3), -2)).tolist() == [[-2, -2, -2], [-2, -2, -1]]
    assert table.cells.sum() == 1


def test_in_a_sample_of_exact_size_a_new_person_displaces_another() -> None:
    loose, fixed = Bounds.counts((2, 5), 1), Bounds.counts((2, 5), 1, fixed_slots=True)
    assert (loose.added.l1, loose.changed.l1) == (1, 2)
    assert (fixed.added.l1, fixed.changed.l1) == (2, 4)
    assert (fixed.added.l2_squared, fixed.changed.l2_squared) == (2, 4)


@pytest.mark.parametrize(
    ("low", "high", "rows", "fixed_cell", "added", "changed"),
    [
        (0, 10, 1, False, 10, 20),
        (0, 10, 3, False, 30, 60),
        (0, 10, 1, True, 10, 10),  # not always double
        (-10, 10, 1, True, 10, 20),
        (5, 10, 1, True, 10, 10),  # somebody may go altogether: more than from low to high
    ],
)
def test_what_one_person_moves_in_a_clipped_sum(
    low: int, high: int, rows: int, fixed_cell: bool, added: int, changed: int
) -> None:
    bounds = Bounds.sums((3,), low, high, rows, fixed_cell=fixed_cell)
    assert (bounds.added.l1, bounds.changed.l1) == (added, changed)
    # Brute force: what a person contributes to three cells, absent or with values at the ends.
    ends = [0] if fixed_cell else [0, 1, 2]
    contributions = [np.zeros(3, int)]
    for cell in ends:
        for value in (low, high):
            one = np.zeros(3, int)
            one[cell] = rows * value
            contributions.append(one)
    far = max(np.abs(one).sum() for one in contributions)
    apart = max(np.abs(a - b).sum() for a in contributions for b in contributions)
    assert (far, apart) == (added, changed)


@pytest.mark.parametrize("fixed_cell", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize(
    ("low", "high"), [(0, 3), (-3, 0), (-2, 5), (-5, 2), (-4, 4), (2, 6), (-6, -2)]
)
def test_no_norm_of_a_clipped_sum_is_more_or_less_than_what_one_person_moves(
    low: int, high: int, rows: int, fixed_cell: bool
) -> None:
    """Brute force over all that a person may add to two cells: nothing, or values at the ends."""
    added = [np.zeros(2, int)]
    for values in product((low, high), repeat=rows):
        for cells in product((0,) if fixed_cell else (0, 1), repeat=rows):
            one = np.zeros(2, int)
            np.add.at(one, list(cells), values)
            added.append(one)
    bounds = Bounds.sums((2,), low, high, rows, fixed_cell=fixed_cell)
    assert bounds.added == _furthest(added)
    assert bounds.changed == _furthest([one - other for one in added for other in added])


def _furthest(moves: list[Cells]) -> Reach:
    l1 = max(int(np.abs(move).sum()) for move in moves)
    return Reach(
        l1,
        max(int((move**2).sum()) for move in moves),
        max(int(np.abs(move).max()) for move in moves),
    )


def test_nothing_is_fixed_by_default() -> None:
    """A kind that says nothing about slots or cells gets the bounds of people who are counted."""
    assert Bounds.sums((2,), 0, 3, 1) == Bounds.sums((2,), 0, 3, 1, fixed_cell=False)
    assert Bounds.sums((2,), 0, 3, 1) != Bounds.sums((2,), 0, 3, 1, fixed_cell=True)
    assert Bounds.counts((2,), 1) == Bounds.counts((2,), 1, fixed_slots=False)
    row = Reach(3, 5, 2)
    assert Bounds.rows((2,), row, 2, 1) == Bounds.rows((2,), row, 2, 1, fixed_slots=False)


@pytest.mark.parametrize("cells", [1, 2, 3, 7])
def test_who_displaces_another_moves_the_cells_of_both(cells: int) -> None:
    fixed = Bounds.counts((2, 5), cells, fixed_slots=True)
    assert fixed.added == Reach(2 * cells, 2 * cells, 1)
    assert fixed.changed == Reach(4 * cells, 4 * cells, 1)


@pytest.mark.parametrize(
    ("rows", "groups", "slots", "added", "changed"),
    [
        (1, 1, False, Reach(3, 5, 2), Reach(6, 10, 4)),
        (4, 1, False, Reach(12, 80, 8), Reach(24, 160, 16)),
        (1, 2, False, Reach(6, 10, 2), Reach(12, 20, 4)),
        (2, 3, True, Reach(36, 120, 8), Reach(72, 240, 8)),
        (3, 1, False, Reach(9, 45, 6), Reach(18, 90, 12)),
    ],
)
def test_rows_may_fall_on_one_another_and_groups_may_not(
    rows: int, groups: int, slots: bool, added: Reach, changed: Reach
) -> None:
    bounds = Bounds.rows((5,), Reach(3, 5, 2), rows, groups, fixed_slots=slots)
    assert (bounds.added, bounds.changed) == (added, changed)
    wide = Bounds.rows((5,), Reach(9, 81, 9), rows, groups, fixed_slots=slots)
    assert wide.added.linf == (2 if slots else 1) * 9 * rows
    assert wide.changed.linf == 18 * rows


@given(
    st.integers(1, 3),
    st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=4, max_size=4),
    st.booleans(),
)
def test_counts_of_rows_stay_within_the_bounds_of_rows(
    m: int, cells: list[list[int]], slots: bool
) -> None:
    """In a sample, a removed person makes room for another; a changed person changes groups."""

    def table(group: int, who: int) -> Cells:
        found = np.zeros((2, 4), np.int64)
        np.add.at(found[group], cells[who][:m], 1)
        return found

    bounds = Bounds.rows((2, 4), Reach(1, 1, 1), m, 1, fixed_slots=slots)
    gone, changed = -table(0, 0), table(1, 1) - table(0, 0)
    if slots:
        gone, changed = gone + table(0, 2), changed + table(0, 2) - table(1, 3)
    for moved, reach in ((gone, bounds.added), (changed, bounds.changed)):
        assert np.abs(moved).sum() <= reach.l1
        assert (moved**2).sum() <= reach.l2_squared
        assert np.abs(moved).max() <= reach.linf
