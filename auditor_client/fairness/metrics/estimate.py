"""Measured disparity of two groups, with limits."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["fair", "unfair", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Metric of two groups (the first compared with the second), with limits.

    `low` and `high` hold together with probability at least 1 - delta, for all pairs of groups of
    this metric at once. `value` is the plain estimate; noise may take it outside the limits. `fair`
    is the value of equal treatment. `rounding` is the largest change of the metric by the positions
    of scores within their bins: the limits are for scores rounded to the middle of their bin.
    """

    measure: str
    groups: tuple[str, str]
    value: float
    low: float
    high: float
    delta: float
    fair: float = 0.0
    rounding: float = 0.0

    def verdict(self, alpha: float) -> Verdict:
        """Return `fair` within alpha of equal treatment, `unfair` beyond it, else
        `inconclusive`.
        """
        if not alpha >= 0:
            raise ValueError(f"alpha must not be negative, but is {alpha}")
        low, high = self.low - self.rounding, self.high + self.rounding
        if self.fair - alpha <= low and high <= self.fair + alpha:
            return "fair"
        beyond = low > self.fair + alpha or high < self.fair - alpha
        return "unfair" if beyond else "inconclusive"

    def explain(self) -> str:
        """Return the estimate in one sentence."""
        first, second = self.groups
        words = (
            f"{self.measure}, {first} against {second}: {self.value:.3f}, between {self.low:.3f}"
            f" and {self.high:.3f} (confidence {1 - self.delta:.0%})"
        )
        if self.rounding:
            words += (
                "; the positions of scores within their bins may change it by up to "
                f"{self.rounding:g} either way"
            )
        return words + "."
