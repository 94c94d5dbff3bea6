"""Cells that a metric reads of each person: integers with bounds, all declared beforehand.

Unit: one person, whose row of values is multiplied by the auditor's weights and added up. `Layout`
is public and follows from declared numbers alone, so that a price never depends on data (R4); what
an adapter gives beyond it is clipped. `moved` is by how much one person's data change other
people's values, |Δv| over all of them together: 0 unless people meet in a query; each such metric
proves it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """Names of the cells; a value of one is `scale`; each is within [low, high], Σ|v| <= total."""

    cells: tuple[str, ...]
    scale: int
    low: int
    high: int
    total: int
    moved: int = 0

    def __post_init__(self) -> None:
        if len(set(self.cells)) != len(self.cells) or not self.cells:
            raise BoundsError("cells need names, each once")
        if not (self.scale >= 1 and self.low <= 0 <= self.high and self.total >= 1):
            raise BoundsError("a layout needs a scale of at least 1, low <= 0 <= high, total >= 1")

    def place(self, cell: str) -> int:
        return self.cells.index(cell)

    def cut(self, values: Integers) -> Integers:
        """Values within the bounds; a row that is still too large counts as nothing."""
        inside = np.clip(values, self.low, self.high)
        fits = np.abs(inside).sum(axis=1) <= self.total
        return np.asarray(inside * fits[:, np.newaxis])


@dataclass(frozen=True, eq=False)
class MemberRows:
    """Rows about one or two people each, for two teams (docs/explanation/two-party.md).

    `members` has a column for each of them; a row adds `values` to its `cell`. Rows of one `unit`
    depend on each other.
    """

    members: Integers
    cell: Integers
    unit: Integers
    values: Integers


def sum_by_person(rows: Integers, person: NDArray[np.int64], people: int) -> Integers:
    """Rows of events added up by person; events of nobody (-1) are left out."""
    found = np.zeros((people, rows.shape[1]), np.int64)
    known = person >= 0
    np.add.at(found, person[known], rows[known])
    return found
