"""Bounded tables: integer cells, with the largest change that one person can cause in them.

The bounds come first, from the auditor's declarations; the cells come later, from private data. A
price follows from bounds alone, so it cannot leak data (R4).
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
# Noise beyond this limit is far outside the range for every cell; the sum of both fits 64 bits.
_FAR = 2**62


@dataclass(frozen=True)
class Bounds:
    """Shape of a table, and its sensitivity to one person.

    `added`: the sensitivity if one person is added or removed. `changed`: the sensitivity if one
    person's data change in any way, which may move them from some cells to others. `declared` is
    the rule with the numbers from which both follow; a charge states it.
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
        """Return bounds of a table that counts each person once in at most `cells_per_person`
        cells.
        """
        return cls.by(shape, Counts(cells_per_person, fixed_slots))

    @classmethod
    def sums(
        cls, shape: tuple[int, ...], low: int, high: int, rows: int, *, fixed_cell: bool = False
    ) -> "Bounds":
        """Return bounds of a table of sums of at most `rows` values per person, each clipped to
        [low, high].
        """
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
        """Return bounds of a table to which a person adds `rows_per_person` rows in each of their
        groups.
        """
        each = row.l1, row.l2_squared, row.linf
        return cls.by(shape, Rows(*each, rows_per_person, groups_per_person, fixed_slots))


class Noisable(Protocol[Noisy]):
    """Protocol for additive noise: the bounds of a table, and a way to add noise to its cells.

    The cells may be integers in memory, or masked or encrypted integers that only support
    addition.
    """

    @property
    def bounds(self) -> Bounds: ...

    def plus(self, noise: Cells) -> Noisy: ...


@dataclass(frozen=True)
class Table:
    """Cells within bounds. Tables of disjoint batches of (person, group) pairs can be added."""

    bounds: Bounds
    cells: Cells

    def __post_init__(self) -> None:
        if self.cells.shape != self.bounds.shape or self.cells.dtype != np.int64:
            raise BoundsError("the cells do not have the shape and the type of the bounds")

    @classmethod
    def zeros(cls, bounds: Bounds) -> "Table":
        return cls(bounds, np.zeros(bounds.shape, np.int64))

    @classmethod
    def tally(cls, bounds: Bounds, cell: NDArray[np.intp]) -> "Table":
        """Return counts by flat cell number: every person of a batch adds exactly one."""
        counts = np.bincount(cell, minlength=prod(bounds.shape))
        return cls(bounds, counts.astype(np.int64).reshape(bounds.shape))

    def plus(self, noise: Cells) -> Cells:
        """Return the noisy cells, clipped to ±(2⁵³ − 1), which the waist releases.

        Clipping is post-processing. OpenDP saturates its noise at 64 bits, and noise beyond ±2⁶² is
        clipped to ±2⁶² before the addition, so nothing wraps around. As |cell| < 2⁶¹, the result is
        the same as clipping the exact sum: the limit on the side of the noise.
        """
        return clip(self.cells + np.clip(noise, -_FAR, _FAR))

    def __add__(self, other: "Table") -> "Table":
        if self.bounds != other.bounds:
            raise BoundsError("tables with different bounds cannot be added")
        return Table(self.bounds, self.cells + other.cells)


def clip(cells: Cells) -> Cells:
    """Clip integers to the range that canonical JSON represents exactly."""
    return np.clip(cells, -LARGEST, LARGEST)
