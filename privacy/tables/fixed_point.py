"""Reals as integers: values by rounding, probability vectors so that their sum stays exact.

[OHB26] Osoba, He, Badrinarayanan et al., Productionized Fairness Measurement Under Privacy
        Constraints, arXiv:2606.27558 v1, §3.2 (scale, round half up, undo the scale at the end).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacy.errors import BoundsError

Integers = NDArray[np.int64]
EXACT = 2**53


@dataclass(frozen=True)
class FixedPoint:
    """Reals within [low, high] in steps of 1 / scale. What lies outside is cut, not refused."""

    scale: int
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.scale < 1 or not self.low <= self.high:
            raise BoundsError("a fixed-point number needs a scale of at least 1, and low ≤ high")
        if max(abs(self.low), abs(self.high)) * self.scale >= EXACT:
            raise BoundsError("numbers this large lose digits: take a smaller scale")

    def encode(self, reals: ArrayLike) -> Integers:
        """⌊x · scale + ½⌋ of x cut to [low, high]; what is not a number becomes 0, cut likewise."""
        numbers = np.nan_to_num(np.asarray(reals, np.float64), posinf=self.high, neginf=self.low)
        return to_fixed_point(np.clip(numbers, self.low, self.high), self.scale)

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest integer that `encode` gives."""
        least, largest = self.encode([self.low, self.high])
        return int(least), int(largest)


def to_fixed_point(reals: ArrayLike, scale: int) -> Integers:
    """⌊x · scale + ½⌋; what is not a finite number becomes 0."""
    numbers = np.nan_to_num(np.asarray(reals, np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    # ⌊x · 10^c + 0.5⌋   [OHB26, §3.2], with any scale in place of 10^c
    return np.floor(numbers * scale + 0.5).astype(np.int64)


def weights_of(probabilities: ArrayLike, scale: int) -> Integers:
    """Probability vectors, one a row, in steps of 1 / scale, their sums rounded as wholes.

    Each is rounded down; what a row then lacks goes to its largest remainders. A row that sums to
    one sums to exactly `scale`, so that nobody counts more than once for being split among groups.
    """
    scaled = np.asarray(probabilities, np.float64) * scale
    if scaled.ndim != 2 or not np.all(np.isfinite(scaled)) or np.any(scaled < 0):
        raise BoundsError("weights come from a table of non-negative probabilities, one row each")
    whole = np.floor(scaled).astype(np.int64)
    lacking = np.floor(scaled.sum(axis=1) + 0.5).astype(np.int64) - whole.sum(axis=1)
    by_remainder = np.argsort(np.argsort(whole - scaled, axis=1, kind="stable"), axis=1)
    return np.asarray(whole + (by_remainder < lacking[:, np.newaxis]))
