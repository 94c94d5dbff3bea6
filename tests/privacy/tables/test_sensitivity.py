"""Sensitivity rules against exhaustive search on tiny worlds, written without the rules.

A world is a tuple of people. Each test builds the table of every world, compares all pairs that
differ in one person, and holds the largest change found against the rule, norm by norm.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.tables.declared import declared_numbers, rule_from
from privacy.tables.sensitivity import (
    Candidates,
    Counts,
    ExplicitSensitivity,
    Lots,
    Products,
    Reach,
    Rows,
    Sensitivity,
    SensitivityRule,
    Sums,
)

Vector = NDArray[np.int64]
Change = Callable[[], Iterator[Vector]]
NORMS = ("l1", "l2_squared", "linf")
# With so few different people, worlds of three are searched too.
_FEW = 10


def largest(changes: Iterable[Vector]) -> Reach:
    """The largest of each norm over all changes."""
    found = np.array([(abs(c).sum(), (c * c).sum(), abs(c).max()) for c in changes])
    return Reach(*(int(norm) for norm in found.max(axis=0)))


def assert_covers(claimed: Reach, found: Reach) -> None:
    for norm in NORMS:
        assert getattr(claimed, norm) >= getattr(found, norm), norm


# People in groups: everybody adds something to each of at most k groups.

Person = tuple[int | None, ...]


def persons(groups: int, choices: int, most: int) -> list[Person]:
    """Return all possible people: in each group nothing, or one of the contributions."""
    everyone = product([None, *range(choices)], repeat=groups)
    return [each for each in everyone if sum(part is not None for part in each) <= most]


def table(world: Iterable[Person | None], adds: list[Vector], slots: int | None) -> Vector:
    """Return the table by group; with `slots`, only the first `slots` people of a group count."""
    people = [person for person in world if person is not None]
    groups = len(people[0]) if people else 0
    rows = []
    for group in range(groups):
        inside = [person[group] for person in people if person[group] is not None]
        counted = inside if slots is None else inside[:slots]
        rows.append(sum((adds[part] for part in counted if part is not None), 0 * adds[0]))
    return np.array(rows).ravel()


def moves(
    everyone: list[Person], adds: list[Vector], slots: int | None, *, changed: bool
) -> Iterator[Vector]:
    """All changes of the table when the first of two or three people goes or changes."""
    more = 2 if slots and len(everyone) < _FEW else 1
    for others in product(everyone, repeat=more):
        for one in everyone:
            before = table((one, *others), adds, slots)
            for another in everyone if changed else [None]:
                yield table((another, *others), adds, slots) - before


def searched(groups: int, adds: list[Vector], most: int, *, fixed: bool) -> Sensitivity:
    everyone, slots = persons(groups, len(adds), most), 1 if fixed else None
    return Sensitivity(
        largest(moves(everyone, adds, slots, changed=False)),
        largest(moves(everyone, adds, slots, changed=True)),
    )


def one_hot(bins: int) -> list[Vector]:
    return list(np.eye(bins, dtype=np.int64))


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("most", [1, 2])
def test_counts(most: int, fixed: bool) -> None:
    found = searched(2, one_hot(2), most, fixed=fixed)
    claimed = Counts(most, fixed).sensitivity((2, 2))
    assert_covers(claimed.added, found.added)
    assert_covers(claimed.changed, found.changed)
    assert claimed.added == found.added
    # Two groups have no room for what a change moves in four places.
    assert claimed.changed == found.changed or (most, fixed) == (2, True)


def row_sums(rows: list[Vector], most: int) -> list[Vector]:
    """Return the possible sums of at most this number of rows in one group."""
    return [
        np.sum(chosen, axis=0)
        for count in range(1, most + 1)
        for chosen in combinations_with_replacement(rows, count)
    ]


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize(("rows_each", "most"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_rows_of_one_cell(rows_each: int, most: int, fixed: bool) -> None:
    found = searched(2, row_sums(one_hot(2), rows_each), most, fixed=fixed)
    claimed = Rows(1, 1, 1, rows_each, most, fixed).sensitivity((2, 2))
    assert_covers(claimed.added, found.added)
    assert_covers(claimed.changed, found.changed)
    assert claimed.added.l1 == found.added.l1
    assert fixed or claimed == Sensitivity(
        found.added, Reach(found.changed.l1, found.changed.l2_squared, 2 * rows_each)
    )


@pytest.mark.parametrize("fixed", [False, True])
def test_rows_with_negative_sums(fixed: bool) -> None:
    """A row (1, v) with v of -1 or 1: two rows of one cell are 4 apart in squared L2."""
    rows = [np.array([1, -1, 0, 0]), np.array([1, 1, 0, 0]), np.array([0, 0, 1, 1])]
    apart = max(int(((x - y) ** 2).sum()) for x in rows for y in rows)
    found = searched(2, row_sums(rows, 2), 1, fixed=fixed)
    claimed = Rows(2, max(2, apart // 2), 1, 2, 1, fixed).sensitivity((2, 2, 2))
    assert_covers(claimed.added, found.added)
    assert_covers(claimed.changed, found.changed)


# Sums of clipped values: a person chooses a cell, or has one that data do not decide.


@pytest.mark.parametrize(("low", "high"), [(0, 2), (-1, 2), (-2, 1), (1, 2), (-2, -1)])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("fixed_cell", [False, True])
def test_sums(low: int, high: int, rows: int, fixed_cell: bool) -> None:
    cells = one_hot(2)[:1] if fixed_cell else one_hot(2)
    each = [value * cell for value in range(low, high + 1) for cell in cells]
    adds = [0 * cells[0], *row_sums(each, rows)]
    claimed = Sums(low, high, rows, fixed_cell).sensitivity((2,))
    added = largest(adds)
    assert claimed.added == added
    found = largest(y - x for x in adds for y in adds)
    assert_covers(claimed.changed, found)
    assert claimed.changed.l1 == found.l1
    assert claimed.changed.l2_squared == found.l2_squared


@pytest.mark.parametrize(("values", "far"), [(1, 1), (2, 3), (3, 2)])
def test_candidates(values: int, far: int) -> None:
    """Each value moves by itself, up or down."""
    adds = [np.array(each) for each in product(range(-far, far + 1), repeat=values)]
    claimed = Candidates(far).sensitivity((values,))
    assert claimed.added == largest(adds)
    assert claimed.changed == largest(y - x for x in adds for y in adds)


# Hidden weights by values.


def bounded(count: int, low: int, high: int, total: int) -> list[Vector]:
    every = (np.array(each) for each in product(range(low, high + 1), repeat=count))
    return [each for each in every if abs(each).sum() <= total]


@pytest.mark.parametrize("displacing", [False, True])
@pytest.mark.parametrize("moved", [0, 1])
@pytest.mark.parametrize(("low", "high", "total"), [(0, 2, 2), (0, 1, 2), (-1, 1, 1), (-1, 2, 3)])
def test_products(low: int, high: int, total: int, moved: int, displacing: bool) -> None:
    weights, values = bounded(2, 0, 1, 2), bounded(2, low, high, total)
    # The extreme points are enough, since norms are convex.
    edge = [v for v in values if abs(v).sum() == total or abs(v).max() == max(-low, high)]
    adds = [np.outer(w, v).ravel() for w in weights for v in [0 * edge[0], *edge]]
    adds = [np.array(each) for each in sorted({tuple(each) for each in adds})]
    beside = [np.zeros(4, np.int64)]
    if moved:
        shifts = [v for v in bounded(2, -moved, moved, moved) if abs(v).sum() == moved]
        beside += [np.outer(w, v).ravel() for w in weights for v in shifts]
    rule = Products(1, 2, max(-low, high), total, moved, displacing)
    claimed = rule.sensitivity((2, 2))
    swapped = [y - x for x in adds for y in adds]
    assert_covers(claimed.added, largest(x + b for x in adds for b in beside))
    assert_covers(claimed.changed, largest(x + b for x in swapped for b in beside))
    if displacing:
        assert_covers(claimed.added, largest(x + b for x in swapped for b in beside))
        some = swapped[:: max(1, len(swapped) // 60)]
        assert_covers(claimed.changed, largest(x + y for x in some for y in some))
    if not (moved or displacing or low < 0):
        assert claimed.added == largest(adds)
        assert claimed.changed.l1 == 2 * claimed.added.l1


@pytest.mark.parametrize("outcomes", [one_hot(2), [np.array([n]) for n in (-2, 0, 1, 2)]])
@pytest.mark.parametrize("lots", [1, 2])
@pytest.mark.parametrize("fixed", [False, True])
def test_lots(outcomes: list[Vector], lots: int, fixed: bool) -> None:
    """Each lot of a person has any outcome before and any other after, or none."""
    every = [0 * outcomes[0], *outcomes]
    one = [y - x for x in every for y in every]
    lot = largest(one)
    moved = [sum(each) for each in product(one, repeat=lots * (2 if fixed else 1))]
    found = largest(np.asarray(each) for each in moved)
    claimed = Lots(lot.l1, lot.l2_squared, lot.linf, lots, fixed).sensitivity((len(every[0]),))
    assert claimed.added == found
    double = Reach(2 * found.l1, 4 * found.l2_squared, 2 * found.linf)
    assert claimed.changed == double


RULES: list[SensitivityRule] = [
    Counts(2, True),
    Sums(-3, 2**70, 2, False),
    Rows(1, 1, 1, 3, 2, True),
    Candidates(1000),
    Products(1, 2, 3, 4, moved=5, displacing=False),
    Lots(2, 2, 1, 3, True),
    ExplicitSensitivity(1, 2, 3, 4, 5, 6),
]


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_a_rule_is_stated_and_read_again(rule: SensitivityRule) -> None:
    assert rule_from(rule.name, declared_numbers(rule)) == rule


@pytest.mark.parametrize(
    "numbers",
    [
        {},
        {"cells_per_person": "1"},
        {"cells_per_person": "1", "fixed_slots": "false"},
        {"cells_per_person": True, "fixed_slots": False},
        {"cells_per_person": "01", "fixed_slots": False},
        {"cells_per_person": "one", "fixed_slots": False},
        {"cells_per_person": "9" * 65, "fixed_slots": False},
        {"cells_per_person": "1", "fixed_slots": False, "more": "1"},
    ],
)
def test_numbers_that_are_not_those_of_the_rule(numbers: dict[str, str | bool]) -> None:
    with pytest.raises(BoundsError):
        rule_from("counts", numbers)


def test_a_rule_of_a_later_version_is_not_known() -> None:
    assert rule_from("of-tomorrow", {"cells": "1"}) is None
