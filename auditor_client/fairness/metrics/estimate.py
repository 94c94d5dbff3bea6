"""A measured disparity of two groups, with limits."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["fair", "unfair", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measure of two groups (the first against the second) between limits.

    `low` and `high` hold together with probability at least 1 - delta, for all pairs of groups of
    this measure at once. `value` is the plain estimate; noise may take it outside of the limits.
    `fair` is the value of equal treatment. `rounding` is by how much scores inside of their bins
    could move the measure: the limits are those of scores rounded to the middle of their bin.
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
        """`fair` if it lies within alpha of equal treatment, `unfair` if it lies beyond."""
        if not alpha >= 0:
            raise ValueError(f"alpha must not be negative, but is {alpha}")
        low, high = self.low - self.rounding, self.high + self.rounding
        if self.fair - alpha <= low and high <= self.fair + alpha:
            return "fair"
        beyond = low > self.fair + alpha or high < self.fair - alpha
        return "unfair" if beyond else "inconclusive"

    def explain(self) -> str:
        """Explain the estimate in one sentence."""
        first, second = self.groups
        words = (
            f"{self.measure}, {first} against {second}: {self.value:.3f}, between {self.low:.3f}"
            f" and {self.high:.3f} (confidence {1 - self.delta:.0%})"
        )
        if self.rounding:
            words += f"; scores inside of their bins may add up to {self.rounding:g} either way"
        return words + "."
