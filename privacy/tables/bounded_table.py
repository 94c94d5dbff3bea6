"""Bounded tables: integer cells together with the most that one person can change in them.

The bounds come first, from what the auditor declared; cells come later, from private data. A price
follows from bounds alone, so that it cannot leak (R4).
"""

from dataclasses import dataclass
from math import prod
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from privacy.canonical import LARGEST
from privacy.errors import BoundsError
from privacy.tables.sensitivity import (
    Counts,
    ExplicitSensitivity,
    Reach,
    Rows,
    SensitivityRule,
    Sums,
)

__all__ = ["Bounds", "Cells", "Noisable", "Noisy", "Reach", "Table"]

Cells = NDArray[np.int64]
Noisy = TypeVar("Noisy", covariant=True)
# Noise beyond it is far outside of the range, whatever the cell; their sum fits 64 bits.
_FAR = 2**62


@dataclass(frozen=True)
class Bounds:
    """The shape of a table, and its sensitivity to one person.

    `added`: when one person is added or removed. `changed`: when one person's data change in any
    way, which may take them out of some cells and put them into others. `declared` is the rule and
    the numbers from which both follow; a charge states it.
    """

    shape: tuple[int, ...]
    added: Reach
    changed: Reach
    declared: SensitivityRule | None = None

    @property
    def cells(self) -> int:
        return prod(self.shape)

    @property
    def rule(self) -> SensitivityRule:
        """The declared rule; the sensitivity itself if none was declared."""
        return self.declared or ExplicitSensitivity.of(self.added, self.changed)

    @classmethod
    def by(cls, shape: tuple[int, ...], rule: SensitivityRule) -> "Bounds":
        """Return the bounds that follow from a rule."""
        follows = rule.sensitivity(shape)
        return cls(shape, follows.added, follows.changed, rule)

    @classmethod
    def counts(
        cls, shape: tuple[int, ...], cells_per_person: int, *, fixed_slots: bool = False
    ) -> "Bounds":
        """Bound a table that counts each person once in at most `cells_per_person` cells."""
        return cls.by(shape, Counts(cells_per_person, fixed_slots))

    @classmethod
    def sums(
        cls, shape: tuple[int, ...], low: int, high: int, rows: int, *, fixed_cell: bool = False
    ) -> "Bounds":
        """Bound a table of sums of at most `rows` values a person, each clipped to [low, high]."""
        return cls.by(shape, Sums(low, high, rows, fixed_cell))

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
        """Bound a table to which a person adds `rows_per_person` rows in each of their groups."""
        each = row.l1, row.l2_squared, row.linf
        return cls.by(shape, Rows(*each, rows_per_person, groups_per_person, fixed_slots))


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
        """Return the noisy cells, clipped to ±(2⁵³ − 1): what the waist lets out.

        Clipping is post-processing. OpenDP saturates its noise at 64 bits, and noise beyond ±2⁶² is
        taken as ±2⁶² before it is added, so that nothing wraps around. As |cell| < 2⁶¹, either
        leaves the result as clipping the exact sum would: the limit on the side of the noise.
        """
        return clip(self.cells + np.clip(noise, -_FAR, _FAR))

    def __add__(self, other: "Table") -> "Table":
        if self.bounds != other.bounds:
            raise BoundsError("tables of different bounds do not add")
        return Table(self.bounds, self.cells + other.cells)


def clip(cells: Cells) -> Cells:
    """Clip integers to those that canonical JSON carries exactly."""
    return np.clip(cells, -LARGEST, LARGEST)
