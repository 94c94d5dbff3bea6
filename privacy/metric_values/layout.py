"""Cells that a metric reads about each person: integers with bounds, all declared beforehand.

Unit: one person, whose row of values is multiplied by the auditor's weights and added up. `Layout`
is public and follows from declared numbers alone, so a price never depends on data (R4). Values of
an adapter beyond the layout are clipped. `moved` is the largest change of other people's values by
one person's data, |Δv| over all of them together. It is 0 unless people share a query; each such
metric proves its value.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """Names and bounds of the cells: `scale` represents 1, each value is within [low, high], and
    Σ|v| <= total.
    """

    cells: tuple[str, ...]
    scale: int
    low: int
    high: int
    total: int
    moved: int = 0

    def __post_init__(self) -> None:
        if len(set(self.cells)) != len(self.cells) or not self.cells:
            raise BoundsError("cells must have unique names")
        if not (self.scale >= 1 and self.low <= 0 <= self.high and self.total >= 1):
            raise BoundsError(
                "a layout must have a scale of at least 1, low <= 0 <= high, and total >= 1"
            )

    def index(self, cell: str) -> int:
        return self.cells.index(cell)

    def clip(self, values: Integers) -> Integers:
        """Return values clipped to the bounds; a row that is still too large counts as zero."""
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
    """Return rows of events added up by person; events of nobody (-1) are omitted."""
    found = np.zeros((people, rows.shape[1]), np.int64)
    known = person >= 0
    np.add.at(found, person[known], rows[known])
    return found
