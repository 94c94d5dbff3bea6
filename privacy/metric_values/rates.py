"""Values of rates and averages: one or a few events of each person, and of nobody else.

[OHB26] Osoba, He et al., arXiv:2606.27558, eqs. 5, 6, 15 (false positives), eq. 18 (outcomes).
[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §4.3 (the histogram of scores).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from privacy.errors import BoundsError
from privacy.metric_values.layout import Integers, Layout
from privacy.tables.fixed_point import to_fixed_point


@dataclass(frozen=True)
class FalsePositives:
    """Equal revocation of opportunity: people who were flagged without reason.

    The paper's rate divides by all people of a group (eq. 5); the usual false positive rate divides
    by those who are negative (eq. 15). Both denominators are cells.
    """

    events: int = 1

    @property
    def layout(self) -> Layout:
        cells = ("people", "negatives", "false_positives")
        return Layout(cells, 1, 0, self.events, 3 * self.events)

    def rows(self, predicted: ArrayLike, actual: ArrayLike) -> Integers:
        """Return a row per event, from the prediction and the actual value."""
        flagged, positive = np.asarray(predicted, np.bool_), np.asarray(actual, np.bool_)
        ones = np.ones(len(flagged), np.int64)
        return np.column_stack([ones, ~positive, flagged & ~positive]).astype(np.int64)


@dataclass(frozen=True)
class Outcomes:
    """A number of each event, clipped to [low, high] and scaled to [0, 1], with squares if
    requested.

    With squares the spread of outcomes is measured; without them the range bounds it.
    """

    low: float
    high: float
    scale: int = 1000
    events: int = 1
    squares: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise BoundsError("outcomes must have a range with low < high")

    @property
    def layout(self) -> Layout:
        cells = ("people", "outcome", *(("squares",) if self.squares else ()))
        most = self.events * self.scale
        return Layout(cells, self.scale, 0, most, len(cells) * most)

    def rows(self, outcome: ArrayLike) -> Integers:
        """Return a row per event; an outcome that is not a number counts as the lowest."""
        numbers = np.nan_to_num(np.asarray(outcome, np.float64), nan=self.low)
        part = (np.clip(numbers, self.low, self.high) - self.low) / (self.high - self.low)
        ones = np.full(len(part), self.scale, np.int64)
        columns = [ones, to_fixed_point(part, self.scale)]
        if self.squares:
            columns.append(to_fixed_point(part**2, self.scale))
        return np.column_stack(columns)


@dataclass(frozen=True)
class Bins:
    """Histogram of [IKH23]: the bin of a person's score, and one more for scores outside all
    bins.
    """

    edges: tuple[float, ...]
    events: int = 1

    def __post_init__(self) -> None:
        if len(self.edges) < 2 or not np.all(np.diff(self.edges) > 0):
            raise BoundsError("bins must have increasing edges")

    @property
    def layout(self) -> Layout:
        cells = (*(f"bin {number}" for number in range(len(self.edges) - 1)), "outside")
        return Layout(cells, 1, 0, self.events, self.events)

    def rows(self, score: ArrayLike) -> Integers:
        """Return 1 in the bin of the score; the last bin includes its upper edge."""
        number = np.asarray(score, np.float64)
        bin_index = np.searchsorted(self.edges, number, side="right") - 1
        last = len(self.edges) - 1
        bin_index = np.where(number == self.edges[-1], last - 1, bin_index)
        bin_index = np.where((bin_index < 0) | ~np.isfinite(number), last, bin_index)
        return np.eye(last + 1, dtype=np.int64)[bin_index]
