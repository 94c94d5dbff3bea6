"""Number of scored people of a group: the denominator of its shares, with limits.

Three sources, best first: an exact number; a noisy number bought in addition to the bins and
combined with the bins' sum; the bins' sum alone. Every scored person is in exactly one bin (the bin
for scores out of range included), so the bins' sum is the number of people plus the noise of all
bins.
"""

import math
from dataclasses import dataclass
from typing import Literal

from auditor_client.stats import noise
from auditor_client.stats.noise import AnyNoise, Term

# Integer weights of the two sources add up to this.
PARTS = 12
# Probability below which the bins' sum and a stated number cannot describe the same people.
_SURPRISE = 1e-6


@dataclass(frozen=True, slots=True)
class GroupSizeEstimate:
    """Estimate of one group's number of scored people.

    `rate` is the noise of each bin and `noisy_rate` that of the bought number: a distribution, or
    the rate of discrete Laplace noise.
    """

    total: int
    bins: int
    rate: AnyNoise
    known: int | None = None
    noisy: int | None = None
    noisy_rate: AnyNoise = math.inf

    @property
    def kind(self) -> Literal["known", "noisy", "estimated"]:
        if self.known is not None:
            return "known"
        return "estimated" if self.noisy is None else "noisy"

    @property
    def estimate(self) -> float:
        """The best single number; never below one, so that shares can be formed."""
        if self.known is not None:
            return max(float(self.known), 1.0)
        weight = self._weight
        value = weight * self.total + (PARTS - weight) * (self.noisy or 0)
        return max(value / PARTS, 1.0)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The noises of PARTS times the estimate, for `noise.sum_quantile`; empty if the size is
        known.
        """
        if self.known is not None:
            return ()
        return (self.bins, self.rate, self._weight), (1, self.noisy_rate, PARTS - self._weight)

    def limits(self, level: float) -> tuple[int, int]:
        """Return the lower and upper limit, each missed with probability at most `level`."""
        if self.known is not None:
            return self.known, self.known
        weight = self._weight
        value = weight * self.total + (PARTS - weight) * (self.noisy or 0)
        reach = noise.sum_quantile(self.terms, level) - 1
        low, high = -((reach - value) // PARTS), (value + reach) // PARTS
        if self.noisy is not None and abs(self.total - self.noisy) >= self._reach(_SURPRISE):
            own = noise.sum_quantile(((1, self.noisy_rate, 1),), level) - 1
            low, high = min(low, self.noisy - own), max(high, self.noisy + own)
        return low, max(high, low)

    def missing(self, level: float) -> float:
        """Return the share of the group that no bin accounts for, beyond what the noise explains.

        It is zero unless the bins' sum is significantly below the number of people. People in no
        bin could belong to any bin, so limits widen by this share.
        """
        if self.kind == "estimated":
            return 0.0
        short = self.stated - self.total - (self._reach(level) - 1)
        return min(max(short / self.stated, 0.0), 1.0)

    def tells_nothing(self, level: float) -> bool:
        """Tell whether the bins are consistent with no people, or contradict the stated number."""
        if self.known is not None and self.total - self.known >= self._reach(_SURPRISE):
            return True
        empty = self.total < noise.sum_quantile(((self.bins, self.rate, 1),), level)
        return self.limits(level)[0] < 1 or (empty and self.missing(level) > 0)

    def _reach(self, level: float) -> int:
        """Return the limit for the difference between the bins' sum and the stated number."""
        rate = math.inf if self.known is not None else self.noisy_rate
        return noise.sum_quantile(((self.bins, self.rate, 1), (1, rate, 1)), level)

    @property
    def stated(self) -> int:
        """The number given or bought, at least one."""
        return max(self.known if self.known is not None else self.noisy or 1, 1)

    @property
    def _weight(self) -> int:
        """Parts of `PARTS` given to the bins' sum: inverse to the variances."""
        if self.noisy is None:
            return PARTS
        own = noise.variance(self.noisy_rate)
        both = own + self.bins * noise.variance(self.rate)
        return 0 if both == 0 else round(PARTS * own / both)
