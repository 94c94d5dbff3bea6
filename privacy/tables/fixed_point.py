"""Fixed-point integers for reals: rounded values, and probability vectors with exact sums.

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
    """Reals within [low, high] in steps of 1 / scale. Values outside are clipped, not refused."""

    scale: int
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.scale < 1 or not self.low <= self.high:
            raise BoundsError(
                "a fixed-point number must have a scale of at least 1, and low ≤ high"
            )
        if max(abs(self.low), abs(self.high)) * self.scale >= EXACT:
            raise BoundsError("numbers this large lose digits: use a smaller scale")

    def encode(self, reals: ArrayLike) -> Integers:
        """Return ⌊x · scale + ½⌋ of x clipped to [low, high]; NaN becomes 0, clipped likewise."""
        numbers = np.nan_to_num(np.asarray(reals, np.float64), posinf=self.high, neginf=self.low)
        return to_fixed_point(np.clip(numbers, self.low, self.high), self.scale)

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest integer that `encode` returns."""
        least, largest = self.encode([self.low, self.high])
        return int(least), int(largest)


def to_fixed_point(reals: ArrayLike, scale: int) -> Integers:
    """Return ⌊x · scale + ½⌋; every value that is not a finite number becomes 0."""
    numbers = np.nan_to_num(np.asarray(reals, np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    # ⌊x · 10^c + 0.5⌋   [OHB26, §3.2], with any scale in place of 10^c
    return np.floor(numbers * scale + 0.5).astype(np.int64)


def weights_of(probabilities: ArrayLike, scale: int) -> Integers:
    """Return probability vectors, one per row, in steps of 1 / scale, with their sums rounded as a
    whole.

    Each value is rounded down; the difference of a row's sum goes to its largest remainders. A row
    that sums to one sums to exactly `scale`, so nobody counts more than once because they are split
    among groups.
    """
    scaled = np.asarray(probabilities, np.float64) * scale
    if scaled.ndim != 2 or not np.all(np.isfinite(scaled)) or np.any(scaled < 0):
        raise BoundsError(
            "weights need a table of non-negative probabilities, with one row per person"
        )
    whole = np.floor(scaled).astype(np.int64)
    lacking = np.floor(scaled.sum(axis=1) + 0.5).astype(np.int64) - whole.sum(axis=1)
    by_remainder = np.argsort(np.argsort(whole - scaled, axis=1, kind="stable"), axis=1)
    return np.asarray(whole + (by_remainder < lacking[:, np.newaxis]))
