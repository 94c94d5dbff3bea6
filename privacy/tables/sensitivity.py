"""Sensitivity rules: declared numbers that determine the largest change of a table by one person.

A rule and a shape give three norms of the largest change (L1, squared L2, L∞) under two relations:
one person added or removed, and one person's data changed in any way. The platform uses these rules
for prices, and the ledger's verifier computes them again from the numbers that a charge states. All
numbers are integers.
"""

from dataclasses import dataclass
from math import isqrt
from typing import ClassVar, Protocol

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Reach:
    """Sensitivity of a table: L1 norm, squared L2 norm, and the largest single cell (L∞)."""

    l1: int
    l2_squared: int
    linf: int


@dataclass(frozen=True)
class Sensitivity:
    """Reach if one person is added or removed, and if one person's data change."""

    added: Reach
    changed: Reach


class SensitivityRule(Protocol):
    """Rule by which sensitivity follows from declared numbers."""

    name: ClassVar[str]

    def sensitivity(self, shape: Shape) -> Sensitivity: ...


@dataclass(frozen=True)
class Counts:
    """Each person counts once in at most `cells_per_person` = k cells.

    Added: k cells move by one. Changed: k cells lose one and k others gain one. With `fixed_slots`,
    as in a sample of exact size, an added person displaces another, and a removed person makes room
    for another. The other person's cells change too, so everything doubles.
    """

    name: ClassVar[str] = "counts"
    cells_per_person: int
    fixed_slots: bool = False

    def sensitivity(self, shape: Shape) -> Sensitivity:
        k = 2 * self.cells_per_person if self.fixed_slots else self.cells_per_person
        return Sensitivity(Reach(k, k, 1), Reach(2 * k, 2 * k, 1))


@dataclass(frozen=True)
class Sums:
    """At most `rows` values per person, each clipped to [low, high], are added up.

    Let M = max(|low|, |high|). Added: all rows may be in one cell, which changes by rows·M.
    Changed: the rows leave one cell and enter another, 2·rows·M in L1. Or they stay in their cell
    and change from low to high, rows·(high − low) in one cell, which is never more in L1 but may be
    more in L2. With `fixed_cell` the cell does not depend on the person's data: the rows change
    from low to high there, or are added or removed, so a change need not cost double.
    """

    name: ClassVar[str] = "sums"
    low: int
    high: int
    rows: int
    fixed_cell: bool = False

    def sensitivity(self, shape: Shape) -> Sensitivity:
        far = self.rows * max(abs(self.low), abs(self.high))
        span = self.rows * (self.high - self.low)
        most = max(far, span)
        moving = Reach(2 * far, max(2 * far**2, span**2), most)
        changed = Reach(most, most**2, most) if self.fixed_cell else moving
        return Sensitivity(Reach(far, far**2, far), changed)


@dataclass(frozen=True)
class Rows:
    """A person adds at most `rows_per_person` = m rows in each of `groups_per_person` = k groups.

    The three numbers of a row bound the contribution of one row x to the cells of one group, and
    the distance of two rows: |x|₁ ≤ l1, |x|₂² ≤ l2_squared, |x|∞ ≤ linf, and |x − y|₂² ≤ 2 ·
    l2_squared. (The last follows if rows have no negative values; otherwise `l2_squared` must be
    large enough for it.)

    Added: m rows may be in the same cells, which is m times the distance, m² in squared L2, in each
    of k groups with separate cells. Changed: rows x₁ … xₘ become y₁ … yₘ, and their sums differ by
    at most Σ |xᵣ − yᵣ|: twice in L1, twice in squared L2. A missing row counts as zero. With
    `fixed_slots`, another person of the same group replaces a removed one, or leaves for an added
    one. Then one person's rows become another's, and everything doubles again.
    """

    name: ClassVar[str] = "rows"
    row_l1: int
    row_l2_squared: int
    row_linf: int
    rows_per_person: int
    groups_per_person: int
    fixed_slots: bool = False

    def sensitivity(self, shape: Shape) -> Sensitivity:
        m, times = self.rows_per_person, 2 if self.fixed_slots else 1
        k = times * self.groups_per_person
        added = Reach(
            self.row_l1 * m * k, self.row_l2_squared * m**2 * k, times * self.row_linf * m
        )
        changed = Reach(2 * added.l1, 2 * added.l2_squared, 2 * self.row_linf * m)
        return Sensitivity(added, changed)


@dataclass(frozen=True)
class Candidates:
    """Each of several values changes by at most `largest` if a person is added or removed.

    All of them may change at once, in any direction. Changed: one person is removed and another
    added, twice the distance.
    """

    name: ClassVar[str] = "candidates"
    largest: int

    def sensitivity(self, shape: Shape) -> Sensitivity:
        [values] = shape
        return Sensitivity(self._moved(values, self.largest), self._moved(values, 2 * self.largest))

    @staticmethod
    def _moved(values: int, far: int) -> Reach:
        return Reach(values * far, values * far**2, far)


@dataclass(frozen=True)
class Products:
    """A person adds w ⊗ v, hidden weights by values, to a table of groups × cells.

    With weights |w|∞ ≤ h and |w|₁ ≤ S, and values |v|∞ ≤ M and |v|₁ ≤ V, in G groups and C cells:

        |w ⊗ v|₁ = |w|₁·|v|₁ ≤ S·V     |w ⊗ v|∞ ≤ h·M
        |w ⊗ v|₂² = |w|₂²·|v|₂² ≤ min(h·S, G·h²) · min(M·V, C·M²)

    One person's data may also change other people's values, by at most `moved` in L1 over all of
    them: then Σ |w'|₁·|Δv'|₁ ≤ S·moved is added, and |w|₂·moved to the L2 norm. With `displacing`,
    an added person may displace another, and a removed one may make room: everything doubles.
    Changed: a removal and an addition, so everything doubles again.
    """

    name: ClassVar[str] = "products"
    largest_weight: int
    total_weight: int
    largest_value: int
    total_value: int
    moved: int = 0
    displacing: bool = False

    def sensitivity(self, shape: Shape) -> Sensitivity:
        groups, cells = shape
        weights = _squares(self.largest_weight, self.total_weight, groups)
        values = _squares(self.largest_value, self.total_value, cells)
        if self.moved:
            values = (isqrt(values) + 1 + self.moved) ** 2
        one = Reach(
            self.total_weight * (self.total_value + self.moved),
            weights * values,
            self.largest_weight * (self.largest_value + self.moved),
        )
        persons = 2 if self.displacing else 1
        return Sensitivity(_times(one, persons), _times(one, 2 * persons))


@dataclass(frozen=True)
class Lots:
    """A person changes the outcomes of at most `lots_per_person` = r lots, which add up.

    A lot is one target of an audit of envy, with the people who serve as its arms.

    The three numbers of a lot bound the distance of two outcomes of one lot. Added: r lots change
    from any outcome to any other, and may all be in the same cells: r times the distance, r² in
    squared L2. With `fixed_slots`, another person enters or leaves, with the same number of lots:
    2r. Changed: one person is removed and another added, twice the distance.
    """

    name: ClassVar[str] = "lots"
    lot_l1: int
    lot_l2_squared: int
    lot_linf: int
    lots_per_person: int
    fixed_slots: bool = False

    def sensitivity(self, shape: Shape) -> Sensitivity:
        lot = Reach(self.lot_l1, self.lot_l2_squared, self.lot_linf)
        lots = (2 if self.fixed_slots else 1) * self.lots_per_person
        return Sensitivity(_times(lot, lots), _times(lot, 2 * lots))


@dataclass(frozen=True)
class ExplicitSensitivity:
    """Sensitivity itself, stated if no other rule applies. No declared numbers imply it."""

    name: ClassVar[str] = "stated"
    added_l1: int
    added_l2_squared: int
    added_linf: int
    changed_l1: int
    changed_l2_squared: int
    changed_linf: int

    @classmethod
    def of(cls, added: Reach, changed: Reach) -> "ExplicitSensitivity":
        return cls(
            added.l1,
            added.l2_squared,
            added.linf,
            changed.l1,
            changed.l2_squared,
            changed.linf,
        )

    def sensitivity(self, shape: Shape) -> Sensitivity:
        return Sensitivity(
            Reach(self.added_l1, self.added_l2_squared, self.added_linf),
            Reach(self.changed_l1, self.changed_l2_squared, self.changed_linf),
        )


def _squares(largest: int, total: int, count: int) -> int:
    """Return the largest sum of squares of `count` numbers, given their largest value and their
    sum.
    """
    return min(largest * total, count * largest**2)


def _times(one: Reach, count: int) -> Reach:
    """Return the reach of `count` changes, all of which may be in the same cells."""
    return Reach(one.l1 * count, one.l2_squared * count**2, one.linf * count)
