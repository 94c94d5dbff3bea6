"""Errors of two equally large groups of known size, for which few boxes are enough for a proof.

S = X_a - X_b + (noise) is whole. Let p be the larger share, d = p - q. For a fixed d, the tail
P(S >= T) grows with q as long as p + q < 1 and falls beyond: its slope along q is

    n (1 - p - q) (P(R = T - 1) - P(R = T)),

where R is S without one person of each group, if T - 1 lies beyond the most likely value of R. So a
box of d and q has its largest tail at a known q. As T is whole, boxes that end at its jumps lose
nothing along d. For a given T and fixed means of X_a and X_b, the tail grows with the number of
people: one proof may cover several numbers. Both are shown in docs/explanation/planning.md.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from auditor_client.planning.branch_and_bound import (
    Cover,
    best_plane,
    prove_bound,
    sum_at_equal_shares,
)
from auditor_client.stats.noise_distributions import Floats, Integers, Noise
from auditor_client.stats.share_distribution import binomial
from auditor_client.stats.sliding_products import shifted_products

# Beyond this number of standard deviations at one half, a binomial distribution has a probability
# of at most 2·exp(-2·_DEVIATIONS²/4) = 5e-11 on both sides together (Hoeffding). _ROUND_OFF covers
# two such distributions, the tails of the noise, and round-off.
_DEVIATIONS = 7.0
_ROUND_OFF = 1e-9
_NARROWEST = 1e-4
_SHARES = np.linspace(0.0, 1.0, 49)
# Number of initial boxes along d, and the ratio of their length along q.
_SIDE = 32
_STRETCH = 4.0
# Errors are most likely just before T jumps, at the far end of a box.
_BEFORE_JUMP = 1 - 1e-6


@dataclass(frozen=True, eq=False)
class EqualGroups:
    """Two groups of `people` each, or of any number from `fewest` to `people`.

    Shares and their differences are counted in people. `noise` is that of a difference of counts.
    """

    alpha: float
    bins: int
    people: int
    noise: Noise
    fewest: int

    def needed(self, level: float) -> float:
        """Return the level that errors at equal shares alone would use, if it is near `level`."""
        return sum_at_equal_shares(self._at_equal_shares, _SHARES, 4 * level, self.bins)

    def certified(self, level: float) -> bool:
        plane, room = best_plane(self._at_equal_shares, _SHARES, level, self.bins)

        def allowed(d: Floats, q: Floats) -> Floats:
            return plane.at((q + np.maximum(d, 0.0)) / self.people, q / self.people)

        if self.fewest < self.people and not self._grows_with_people:
            return False
        return room >= 1 and prove_bound(self.error, allowed, self._cover, _NARROWEST * self.people)

    @property
    def _bar(self) -> float:
        return self.fewest * self.alpha

    @property
    def _grows_with_people(self) -> bool:
        """Whether all tails lie beyond the mode, even with two people fewer."""
        return self._bar - 2 >= self._mode_from_mean

    @property
    def _cover(self) -> Cover:
        n, width = self.people, 2.0 ** max(round(math.log2(self.people / _SIDE)), 0)
        # T jumps at each whole value of d + _bar.
        start = min(math.floor(self._bar + 1e-9) - self._bar, 0.0)
        d, q = np.meshgrid(np.arange(start, n, width), np.arange(0, n, _STRETCH * width))
        cover = Cover(d.ravel(), q.ravel(), width, _STRETCH, lambda d, q: d + q <= n, _BEFORE_JUMP)
        return cover.inside()

    @cached_property
    def _at_equal_shares(self) -> Floats:
        return self.error(np.zeros_like(_SHARES), _SHARES * self.people, 0.0)

    def error(self, d: Floats, q: Floats, width: float) -> Floats:
        """Return a bound of G on each box [d, d + width] x [q, q + 4·width], with p = q + d."""
        n, bar = self.people, self._bar
        most_d = np.clip(d + width, 0.0, n - q)
        most_q, d = np.minimum(q + _STRETCH * width, n), np.clip(d, 0.0, n - q)
        above = _beyond(bar + d)
        below = np.where(most_d > bar, _beyond(bar - most_d), above)
        # P(S >= above) grows with d, P(-S >= below) falls.
        best = np.clip((n - most_d) / 2, q, most_q)
        sure = above - 1 >= self._farthest_mode(most_d)
        q_above = np.where(sure, best, q)
        p_above = np.minimum(np.where(sure, best, most_q) + most_d, n)
        best = np.clip((n - d) / 2, q, most_q)
        sure = below - 1 >= self._farthest_mode(-d)
        q_below = np.where(sure, best, np.minimum(most_q, n - d))
        p_below = np.where(sure, best, q) + d
        one, two = np.split(
            self._tails(
                np.concatenate([p_above, p_below]),
                np.concatenate([q_above, q_below]),
                np.concatenate([1 - above, below]),
            ),
            2,
        )
        return np.minimum(1 - one + two + _ROUND_OFF, 2.0)

    def _farthest_mode(self, mean: Floats) -> Floats:
        """Return a value beyond which R has no mode, if S has this mean."""
        return np.asarray(mean * (self.people - 1) / self.people + self._mode_from_mean)

    @property
    def _mode_from_mean(self) -> float:
        # A mode is within √(3(variance + 1/12)) of the mean; each person's variance is below 1/4.
        return math.sqrt(3 * (self.people / 2 + self.noise.variance) + 0.25)

    def _tails(self, p: Floats, q: Floats, least: Integers) -> Floats:
        """Return P(X_q + noise >= X_p + least), where X_p and X_q have these means, or slightly
        less: the masses far from the means are omitted.
        """
        ps, one = np.unique(p, return_inverse=True)
        qs, other = np.unique(q, return_inverse=True)
        (from_p, masses), (from_q, others) = self._likely(ps), self._likely(qs)
        shift, wide = least + from_p[one] - from_q[other], masses.shape[1]
        first, last = int(shift.min()), int(shift.max()) + wide
        noise = self.noise.tail(np.arange(first - wide + 1, last))
        # Row j: P(noise >= k - j) for k from `first` on
        given = sliding_window_view(noise, last - first)[::-1]
        return shifted_products(masses, one, others @ given, other, shift - first)

    def _likely(self, means: Floats) -> tuple[Integers, Floats]:
        """Return the relevant part of each binomial distribution: its start and its masses."""
        n = self.people
        reach = math.ceil(_DEVIATIONS * math.sqrt(n / 4)) + 1
        wide = min(2 * reach, n + 1)
        start = np.clip(np.floor(means).astype(np.int64) - reach, 0, n + 1 - wide)
        return start, binomial(n, means / n, start[:, None] + np.arange(wide))


def _beyond(bar: Floats) -> NDArray[np.int64]:
    """Return the smallest whole number above the bar; a value on the bar stays there despite
    rounding.
    """
    return np.floor(bar + 1e-9).astype(np.int64) + 1
