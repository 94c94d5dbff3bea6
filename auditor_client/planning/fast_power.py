"""Power of audits of a given size, by fast simulation of many audits at once.

Releases are drawn as in `power_simulation`, from the same hard platform. `saddlepoint` then
decides, in place of exact sums, whether `gap_bounds` would call a release fair or unfair. So the
answer is an approximation (`bench.planning` compares the two), within the binomial error of AUDITS
draws. Seeds are fixed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from auditor_client.fairness.bin_tests import _RATIO_STEP, _SHARES, _SIZES
from auditor_client.fairness.gap import BINS_PART
from auditor_client.fairness.gap_bounds import _RIGHT, _THETA, one_sided_delta
from auditor_client.planning.impact_power import decide_by_ratio
from auditor_client.planning.power_simulation import AuditDesign, Outcome
from auditor_client.planning.share_limits import share_limits
from auditor_client.planning.simulated_releases import Releases, draw
from auditor_client.planning.threshold_power import decide_by_thresholds
from auditor_client.stats.difference_test import _CELL, _MOST_CELLS, _PARTS
from auditor_client.stats.noise import Floats, Integers
from auditor_client.stats.saddlepoint import CountPairs

_LOOKS = 7
# Distance from the level, in logarithms, beyond which a normal tail is on the same side as the
# exact one.
_CLEAR = 1.0


@lru_cache(maxsize=1024)
def estimate_power(design: AuditDesign, people: int, gap: float, verdict: Outcome) -> float:
    """Return the approximate probability that an audit of a platform with this gap ends in the
    verdict.
    """
    return float(np.mean(simulate_decisions(design, people, gap, verdict)))


def simulate_decisions(
    design: AuditDesign, people: int, gap: float, verdict: Outcome
) -> NDArray[np.bool_]:
    """Return, approximately, which of the drawn audits end in the verdict."""
    alone = one_sided_delta(design.delta)
    if design.criterion == "four-fifths":
        return decide_by_ratio(design, people, gap, verdict, alone)
    if design.criterion == "bins":
        return _of_bins(design, people, gap, verdict, alone)
    if verdict == "fair":
        bins = _of_bins(design, people, gap, verdict, alone)
        return bins & decide_by_thresholds(design, people, gap, verdict, alone)
    bins = _of_bins(design, people, gap, verdict, alone * BINS_PART)
    return bins | decide_by_thresholds(design, people, gap, verdict, alone * (1 - BINS_PART))


def _of_bins(
    design: AuditDesign, people: int, gap: float, verdict: Outcome, delta: float
) -> NDArray[np.bool_]:
    level = delta / 2 / (1 if verdict == "fair" else design.pairs)
    drawn = draw(design, people, gap, level if design.exact else level * _SIZES / 4)
    level *= 1.0 if design.exact else 1 - _SIZES
    found = [
        _Pair(design, drawn, first, second, verdict, level).excess()
        for first, second in permutations(range(design.groups), 2)
    ]
    worst = np.max(found, axis=0) if verdict == "fair" else np.min(found, axis=0)
    return np.asarray((worst <= 0) & ~drawn.silent)


@dataclass(frozen=True, eq=False, slots=True)
class _Pair:
    """Tests of `bin_tests` for one ordered pair of groups, in all audits at once."""

    design: AuditDesign
    drawn: Releases
    first: int
    second: int
    verdict: Outcome
    level: float

    def excess(self) -> Floats:
        """Return log(probability / level) of the deciding test of each audit; a verdict needs <=
        0.
        """
        return np.asarray(np.max([self._at(*ratio) for ratio in self._ratios()], axis=0))

    def _ratios(self) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
        """Yield, as in `bin_tests._ratios`, weights of the second count and the audits that use
        each.
        """
        drawn, a, b = self.drawn, self.first, self.second
        if self.design.sizes != "estimated" or self.design.exact:
            yield drawn.stated[:, a] / drawn.stated[:, b], np.ones(len(drawn.stated), dtype=bool)
            return
        start = np.round(np.log(drawn.low[:, a] / drawn.high[:, b]) / _RATIO_STEP)
        stop = np.round(np.log(drawn.high[:, a] / drawn.low[:, b]) / _RATIO_STEP)
        for step in range(int(start.min()), int(stop.max()) + 1):
            ratio = np.full(len(start), math.exp(_RATIO_STEP * step))
            yield ratio, (start <= step) & (step <= stop)

    def _at(self, ratio: Floats, asked: NDArray[np.bool_]) -> Floats:
        sign = 1 if self.verdict == "fair" else -1
        first, second = self.drawn.cells(self.first, self.second, ratio, sign)
        pairs = CountPairs(
            first,
            second,
            self.drawn.low[:, self.first, None],
            self.drawn.high[:, self.second, None],
            ratio[:, None],
            self.design.rate,
            self.design.releases,
        )
        excess = self._of_cells(pairs)
        one = excess.max(axis=1) if self.verdict == "fair" else excess.min(axis=1)
        return np.where(asked, one, -np.inf)

    def _of_cells(self, pairs: CountPairs) -> Floats:
        """Return log(probability / level) for each audit and cell, at its largest."""
        missing = self.drawn.missing[:, self.first, None]
        fair = self.verdict == "fair"
        apart = self.design.alpha - missing if fair else -np.minimum(self.design.alpha + missing, 1)
        low, high, other = self._plausible(pairs, apart)
        v = low[..., None] + np.maximum(high - low, 0.0)[..., None] * np.linspace(0, 1, _LOOKS)
        v, middle = np.minimum(v, 1.0), np.minimum((low + high) / 2, 1.0)
        spread = pairs.spread(middle, np.clip(middle - apart, 0, 1))
        cell = np.maximum(_CELL * spread / pairs.people, (high - low) / (_MOST_CELLS * _PARTS))
        w = np.clip(v + (cell - apart)[..., None], 0.0, other[..., None])
        best, excess = self._quickly(_each(pairs), v, w)
        # Far from the level the normal tail decides; if noise dominates, small tails are heavier.
        doubtful = (low <= high) & (excess < _CLEAR) & ((excess > -_CLEAR) | (not fair))
        excess[doubtful] = self._closely(pairs, doubtful, best[doubtful], v[doubtful], w[doubtful])
        excess = np.where(low > high, -np.inf, excess)
        return np.where(fair & (apart < 0), np.inf, excess)

    def _quickly(self, pairs: CountPairs, v: Floats, w: Floats) -> tuple[Integers, Floats]:
        """Return the share with the largest log(probability / level), and that value, by normal
        tails.
        """
        if self.verdict == "fair":  # with one level for all shares, the largest deviation decides
            far = pairs.deviations(v, w)
            most = special.log_ndtr(far.max(axis=2)) - np.log(self._allowed(v[..., 0]))
            return far.argmax(axis=2), np.asarray(most)
        quick = pairs.quick_log_tail(v, w) - np.log(self._allowed(v))
        return quick.argmax(axis=2), quick.max(axis=2)

    def _closely(
        self, pairs: CountPairs, cells: NDArray[np.bool_], best: Integers, v: Floats, w: Floats
    ) -> Floats:
        """Return the same by the saddlepoint formula, for some cells, at the best of the tried
        shares.

        If noise dominates, tails are heavier than normal ones at small shares, so these are tried
        too.
        """
        at = np.stack([best, np.zeros_like(best), np.ones_like(best)], axis=1)
        v, w = (np.take_along_axis(x, at, axis=1) for x in (v, w))
        found = _each(_only(pairs, cells)).log_tail(v, w) - np.log(self._allowed(v))
        return np.asarray(found.max(axis=1))

    def _allowed(self, p: Floats) -> Floats:
        level, bins = self.level * (1 - _SHARES), self.design.bins
        if self.verdict == "fair":
            return np.full_like(p, level)
        return level * _RIGHT * (_THETA * p + (1 - _THETA) / bins)

    def _plausible(self, pairs: CountPairs, apart: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the smallest and largest first share, and the largest second one, as in
        `chernoff.limits`.
        """
        level = self.level * _SHARES / (4 if self.verdict == "fair" else 4 * self.design.bins)
        drawn, a, b = self.drawn, self.first, self.second
        most, fewest = drawn.high[:, a, None], drawn.low[:, b, None]
        ours = 1 - share_limits(most - pairs.first, most, self.design.distribution, level)
        theirs = 1 - share_limits(
            pairs.others - pairs.second, pairs.others, self.design.distribution, level
        )
        low = np.maximum(np.maximum(ours, theirs + apart), np.maximum(apart, 0.0))
        high = share_limits(pairs.first, pairs.people, self.design.distribution, level)
        return low, high, share_limits(pairs.second, fewest, self.design.distribution, level)


def _only(pairs: CountPairs, wanted: NDArray[np.bool_]) -> CountPairs:
    """Return some of the pairs, in one row."""
    first, second, people, others, ratio = (
        np.broadcast_to(of, wanted.shape)[wanted]
        for of in (pairs.first, pairs.second, pairs.people, pairs.others, pairs.ratio)
    )
    return CountPairs(first, second, people, others, ratio, pairs.rate, pairs.times)


def _each(pairs: CountPairs) -> CountPairs:
    """Return the pairs with one more axis, for several shares each."""
    return CountPairs(
        pairs.first[..., None],
        pairs.second[..., None],
        pairs.people[..., None],
        pairs.others[..., None],
        pairs.ratio[..., None],
        pairs.rate,
        pairs.times,
    )
