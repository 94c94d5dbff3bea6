"""Bounded tables: integer cells together with the most that one person can change in them.

The bounds come first, from what the auditor declared; cells come later, from private data. A price
follows from bounds alone, so that it cannot leak (R4).
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError

Cells = NDArray[np.int64]


@dataclass(frozen=True)
class Bounds:
    """The shape of a table, and how far one person moves it in the L1 norm.

    `added`: when one person is added or removed. `changed`: when one person's data change.
    """

    shape: tuple[int, ...]
    added: int
    changed: int

    @classmethod
    def counts(cls, shape: tuple[int, ...], cells_per_person: int) -> "Bounds":
        """A table that counts each person once in at most so many cells.

        Changing a person is removing one and adding another: twice as far.
        """
        return cls(shape, added=cells_per_person, changed=2 * cells_per_person)


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
