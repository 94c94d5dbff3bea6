"""Bounded tables: integer cells together with the most that one person can change in them.

The bounds come first, from what the auditor declared; cells come later, from private data. A price
follows from bounds alone, so that it cannot leak (R4).
"""

from dataclasses import dataclass
from math import prod
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError

Cells = NDArray[np.int64]
Noisy = TypeVar("Noisy", covariant=True)


@dataclass(frozen=True)
class Reach:
    """How far a table moves: L1 norm, squared L2 norm, and the largest single cell."""

    l1: int
    l2_squared: int
    linf: int


@dataclass(frozen=True)
class Bounds:
    """The shape of a table, and how far one person moves it.

    `added`: when one person is added or removed. `changed`: when one person's data change in any
    way, which may take them out of some cells and put them into others.
    """

    shape: tuple[int, ...]
    added: Reach
    changed: Reach

    @property
    def cells(self) -> int:
        return prod(self.shape)

    @classmethod
    def counts(
        cls, shape: tuple[int, ...], cells_per_person: int, *, fixed_slots: bool = False
    ) -> "Bounds":
        """A table that counts each person once in at most `cells_per_person` = k cells.

        Added: k cells move by one. Changed: k cells lose one and k others gain one. With
        `fixed_slots`, as in a sample of exact size, whoever comes in puts somebody else out, and
        whoever goes lets somebody in: another person's cells move as well, so everything doubles.
        """
        k = 2 * cells_per_person if fixed_slots else cells_per_person
        return cls(shape, added=Reach(k, k, 1), changed=Reach(2 * k, 2 * k, 1))

    @classmethod
    def sums(
        cls, shape: tuple[int, ...], low: int, high: int, rows: int, *, fixed_cell: bool = False
    ) -> "Bounds":
        """A table of sums of at most `rows` values a person, each clipped to [low, high].

        Let M = max(|low|, |high|). Added: all rows may fall into one cell, which moves by rows·M.
        Changed: the rows leave one cell and enter another, 2·rows·M in L1; or stay where they are
        and go from low to high, rows·(high − low) in one cell, which is never more in L1 but may
        be in L2. With `fixed_cell`, where the cell does not depend on the person's data, they go
        from low to high there, or come or go altogether, and changing need not cost double.
        """
        far, span = rows * max(abs(low), abs(high)), rows * (high - low)
        most = max(far, span)
        staying = Reach(most, most**2, most)
        moving = Reach(2 * far, max(2 * far**2, span**2), max(far, span))
        changed = staying if fixed_cell else moving
        return cls(shape, added=Reach(far, far**2, far), changed=changed)

    @classmethod
    def rows(
        cls,
        shape: tuple[int, ...],
        row: Reach,
        rows_per_person: int,
        groups_per_person: int,
        *,
        fixed_slots: bool = False,
    ) -> "Bounds":
        """A table to which a person adds at most `rows_per_person` = m rows in each of k groups.

        `row` bounds what one row x adds to the cells of one group, and how far two rows are apart:
        |x|₁ ≤ l1, |x|₂² ≤ l2_squared, |x|∞ ≤ linf, and |x − y|₂² ≤ 2 · l2_squared. (The last
        follows where rows add nothing negative; else `l2_squared` must be large enough for it.)

        Added: m rows may fall on one another, which is m times as far, m² in squared L2, in each of
        k groups, whose cells are apart. Changed: rows x₁ … xₘ become y₁ … yₘ, and their sums are at
        most Σ |xᵣ − yᵣ| apart: twice in L1, twice in squared L2. A row less is one that becomes
        nothing. With `fixed_slots` another person comes in or goes for whoever goes or comes, in
        the same group: one person's rows become another's, and everything doubles once more.
        """
        m, times = rows_per_person, 2 if fixed_slots else 1
        k = times * groups_per_person
        added = Reach(row.l1 * m * k, row.l2_squared * m**2 * k, times * row.linf * m)
        changed = Reach(2 * added.l1, 2 * added.l2_squared, 2 * row.linf * m)
        return cls(shape, added=added, changed=changed)


class Noisable(Protocol[Noisy]):
    """All that additive noise asks of a table: its bounds, and a way to put noise on its cells.

    The cells may be integers in memory, or masked or encrypted ones that only add.
    """

    @property
    def bounds(self) -> Bounds: ...

    def plus(self, noise: Cells) -> Noisy: ...


@dataclass(frozen=True)
class Table:
    """Cells within bounds. Tables of disjoint batches of (person, group) pairs add."""

    bounds: Bounds
    cells: Cells

    def __post_init__(self) -> None:
        if self.cells.shape != self.bounds.shape or self.cells.dtype != np.int64:
            raise BoundsError("the cells do not have the shape and type of the bounds")

    @classmethod
    def zeros(cls, bounds: Bounds) -> "Table":
        return cls(bounds, np.zeros(bounds.shape, np.int64))

    @classmethod
    def tally(cls, bounds: Bounds, cell: NDArray[np.intp]) -> "Table":
        """Count one for each flat cell number: every person of a batch adds exactly one."""
        counts = np.bincount(cell, minlength=prod(bounds.shape))
        return cls(bounds, counts.astype(np.int64).reshape(bounds.shape))

    def plus(self, noise: Cells) -> Cells:
        """The cells with noise on them: what the waist lets out."""
        return self.cells + noise

    def __add__(self, other: "Table") -> "Table":
        if self.bounds != other.bounds:
            raise BoundsError("tables of different bounds do not add")
        return Table(self.bounds, self.cells + other.cells)
