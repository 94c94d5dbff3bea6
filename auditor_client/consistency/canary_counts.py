"""Exact test of two binomial counts of canaries against all deliveries that scores explain.

Null hypothesis: p_more <= most(p_less), with `most` non-decreasing. Outcomes are ordered by their
Kullback-Leibler divergence from the nearest point of the null's border; the order rises with the
count of `more` and falls with that of `less`. So the probability of an outcome at least as far is
largest on the border. Over a cell of the border it is at most the probability at the corner that
favours it. The p-value is the largest of these: an upper bound, not an approximation (Boschloo's
idea with another order). Nothing in the order depends on the counts.

[B70] Boschloo, Statistica Neerlandica 24 (1970), 1-9: unconditional exact tests of two binomials.
"""

import heapq
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from auditor_client.consistency.delivery_rules import DeliveryRegion
from auditor_client.stats.noise import Floats

_BORDER = 257
_CELLS = 300
# Outcomes of `less` beyond this limit are left out; their total probability is below `_REST`.
_DEVIATIONS = 8.0
_REST = 1e-12
# Smaller p-values are not distinguished.
_TINY = 1e-6


@dataclass(frozen=True)
class CanaryTest:
    """Exact test for given numbers of canaries in both groups."""

    region: DeliveryRegion
    canaries: int
    others: int

    def p_value(self, shown: int, others_shown: int) -> float:
        """Return an upper bound of the probability of such an outcome under any rule of scores."""
        return self._search(shown, others_shown, _TINY)

    def rejects(self, shown: int, others_shown: int, level: float) -> bool:
        """Tell whether such an outcome has a probability of at most `level` under every rule."""
        return self._search(shown, others_shown, level) <= level

    def _search(self, shown: int, others_shown: int, enough: float) -> float:
        """Return an upper bound of the p-value, refined until it is tight or at most `enough`."""
        far = float(self._distance(np.array([shown]), np.array([others_shown]))[0])
        if far <= 0:
            return 1.0
        least = self._least_shown(far)
        finest = math.pi / 2 / max(_CELLS, round(20 * math.sqrt(max(self.canaries, self.others))))
        # Best first: the cell of the largest bound is halved until it is fine enough.
        cells = [(-1.0, 0.0, math.pi / 2)]
        while cells[0][2] - cells[0][1] > finest and -cells[0][0] + _REST > enough:
            _, low, high = heapq.heappop(cells)
            middle = (low + high) / 2
            for start, stop in ((low, middle), (middle, high)):
                heapq.heappush(cells, (-self._bound(least, start, stop), start, stop))
        return min(-cells[0][0] + _REST, 1.0)

    def least_found(self, others_shown: int, level: float) -> int | None:
        """Return the smallest count of `more` that is an alarm at this level, or None."""
        if not self.rejects(self.canaries, others_shown, level):
            return None
        low, high = -1, self.canaries
        while high - low > 1:
            middle = (low + high) // 2
            if self.rejects(middle, others_shown, level):
                high = middle
            else:
                low = middle
        return high

    def _distance(self, shown: NDArray[np.int64], others: NDArray[np.int64]) -> Floats:
        """Return the divergence of outcomes from the nearest point of the border."""
        ours, theirs = self._tables
        return np.asarray((ours[shown] + theirs[others]).min(axis=1))

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        """Divergence from each point of the border, for each count of each group."""
        edges = np.sin(np.linspace(0, math.pi / 2, _BORDER)) ** 2
        most = np.minimum(self.region.most(edges), 1.0)
        first = (np.arange(self.canaries + 1) / self.canaries)[:, None]
        second = (np.arange(self.others + 1) / self.others)[:, None]
        ours = np.where(first > most, _divergence(first, most), 0.0)
        theirs = np.where(second < edges, _divergence(second, edges), 0.0)
        return self.canaries * ours, self.others * theirs

    def _least_shown(self, far: float) -> NDArray[np.int64]:
        """Return, for each count of `less`, the smallest count of `more` that is at least as
        far.
        """
        others = np.arange(self.others + 1)
        low, high = np.full(len(others), -1), np.full(len(others), self.canaries + 1)
        while (high - low > 1).any():
            middle = (low + high) // 2
            tried = np.clip(middle, 0, self.canaries)
            reached = self._distance(tried, others) >= far * (1 - 1e-12)
            high, low = np.where(reached, middle, high), np.where(reached, low, middle)
        return high

    def _bound(self, least: NDArray[np.int64], start: float, stop: float) -> float:
        """Return the probability of an outcome at least as far, at the corner of a cell that
        favours it most.
        """
        less, end = math.sin(start) ** 2, math.sin(stop) ** 2
        more = min(float(self.region.most(end)), 1.0)
        if more >= 1.0 and less <= 0.0:
            return 1.0
        reach = _DEVIATIONS * math.sqrt(self.others * less * (1 - less)) + _DEVIATIONS**2
        first = max(math.floor(self.others * less - reach), 0)
        last = min(math.ceil(self.others * less + reach), self.others)
        others = np.arange(first, last + 1)
        above = _at_least(least[others], self.canaries, more)
        return min(float((_masses(others, self.others, less) * above).sum()) + _REST, 1.0)


def _at_least(counts: NDArray[np.int64], people: int, chance: float) -> Floats:
    """Return P(X >= count) of a binomial variable."""
    inner = np.clip(counts, 1, people)
    found = special.betainc(inner, people - inner + 1, chance)
    return np.where(counts <= 0, 1.0, np.where(counts > people, 0.0, found))


def _masses(counts: NDArray[np.int64], people: int, chance: float) -> Floats:
    logs = special.gammaln(people + 1) - special.gammaln(counts + 1)
    logs = logs - special.gammaln(people - counts + 1)
    logs = logs + special.xlogy(counts, chance) + special.xlog1py(people - counts, -chance)
    return np.asarray(np.exp(logs))


def _divergence(seen: Floats, chance: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of two Bernoulli distributions."""
    return np.asarray(special.rel_entr(seen, chance) + special.rel_entr(1 - seen, 1 - chance))
