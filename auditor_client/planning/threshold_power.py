"""Power of simulated audits for verdicts about thresholds, by normal tails.

The releases are those of `simulated_releases`, and the tests those of `thresholds`. Normal tails
replace exact sums, because a tail is a sum of many people and noises. No verdict depends on this
module.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from auditor_client.fairness.bin_tests import _SHARES, _SIZES
from auditor_client.fairness.thresholds import (
    _MISSING,
    _MOST_CENTRED,
    _RATIO,
    _RIGHT,
    both_sides,
    edge_levels,
)
from auditor_client.fairness.thresholds import _SIZES as _SIZES_OF_BOTH
from auditor_client.planning.power_simulation import AuditDesign, Outcome
from auditor_client.planning.share_limits import share_limits
from auditor_client.planning.simulated_releases import Releases, draw
from auditor_client.stats.centred_difference import _CELL, _FINEST, _STEPS
from auditor_client.stats.difference_test import _CELL as _ONE_SIDED_CELL
from auditor_client.stats.noise import Floats, sum_of_draws, variance

# The largest number of edges that are tested; between them shares hardly differ.
_MOST_EDGES = 12
# The law of a group is rounded three times, by half a step on average.
_ROUNDED = 1.5
# Number of shares that are tried in the plausible range.
_LOOKS = 3


def decide_by_thresholds(
    design: AuditDesign, people: int, gap: float, verdict: Outcome, delta: float
) -> NDArray[np.bool_]:
    """Return, approximately, which drawn audits end in the verdict by thresholds."""
    level = delta / 2 / (1 if verdict == "fair" else design.pairs)
    parts = edge_levels(max(design.bins - 1, 1))
    least = level if verdict == "fair" else level * _RIGHT * float(parts.min())
    tests: type[_OneSide | _BothSides] = _OneSide
    of_sizes = _SIZES
    if _counts_both(design, verdict):
        tests, of_sizes = _BothSides, _SIZES_OF_BOTH
    drawn = draw(design, people, gap, least if design.exact else least * of_sizes / 4)
    if design.bins < 2:
        return np.full(len(drawn.counts), verdict == "fair")
    edges = np.unique(np.linspace(1, design.bins - 1, _MOST_EDGES).astype(int))
    running = np.cumsum(drawn.counts, axis=2)
    whole = running[:, :, -1]
    found = []
    for edge in edges:
        at = level
        if verdict == "unfair":
            at = level * _RIGHT * float(parts[edge - 1])
        test = tests(design, drawn, running[:, :, edge - 1], whole, int(edge), at)
        for pair in permutations(range(design.groups), 2):
            # An upper limit of the difference turned round is minus the lower limit.
            asked = (pair, design.alpha) if verdict == "fair" else (pair[::-1], -design.alpha)
            found.append(test.rejects(*asked))
    decided = np.all(found, axis=0) if verdict == "fair" else np.any(found, axis=0)
    return np.asarray(decided & ~drawn.silent)


def _counts_both(design: AuditDesign, verdict: Outcome) -> bool:
    claims = 2 * design.pairs * (design.bins - 1)
    if verdict == "fair" and claims > _MOST_CENTRED:
        return False
    return both_sides(design.bins, design.distribution, known=design.exact)


class _OneSide:
    """Tests of an edge in all audits, by the side of it with less noise."""

    def __init__(
        self,
        design: AuditDesign,
        drawn: Releases,
        below: Floats,
        whole: Floats,
        edge: int,
        level: float,
    ) -> None:
        self.design, self.drawn = design, drawn
        self.level = level * (1 - _SHARES) * (1.0 if design.exact else 1 - _SIZES)
        self.lower = 2 * edge < design.bins
        self.counts = below if self.lower else whole - below
        cells = min(edge, design.bins - edge)
        self.noises = cells * variance(design.distribution)
        self.limits = _plausible(design, drawn, self.counts, cells, self.level * _SHARES / 4)

    def rejects(self, pair: tuple[int, int], difference: float) -> NDArray[np.bool_]:
        """Return whether P(R > t | first) - P(R > t | second) is certainly less than
        `difference`.
        """
        # Below the edge the groups are exchanged.
        one, other = pair[::-1] if self.lower else pair
        few, many = self.drawn.low[:, one], self.drawn.high[:, other]
        ratio = self.drawn.stated[:, one] / np.maximum(self.drawn.stated[:, other], 1.0)
        reach = difference - self.drawn.missing[:, one]

        def is_rejected(v: Floats) -> NDArray[np.bool_]:
            q = np.clip(v - reach, 0, 1)
            people = few * v * (1 - v) + ratio**2 * many * q * (1 - q)
            spread = np.sqrt(people + (1 + ratio**2) * self.noises)
            w = np.clip(v + _ONE_SIDED_CELL * spread / few - reach, 0, 1)
            value = self.counts[:, one] - few * v - ratio * (self.counts[:, other] - many * w)
            # Half a step of a whole count
            return np.asarray(value + 0.5 <= special.ndtri(self.level) * spread)

        return _rejects_all([self.limits[one], self.limits[other]], reach, is_rejected)


class _BothSides:
    """Tests of an edge in all audits by both sides of it, as in `stats.centred_difference`."""

    def __init__(
        self,
        design: AuditDesign,
        drawn: Releases,
        below: Floats,
        whole: Floats,
        edge: int,
        level: float,
    ) -> None:
        self.design, self.drawn = design, drawn
        self.above, self.whole = whole - below, whole
        self.cells = design.bins - edge, edge
        # Parts of the level, also where sizes are known: for sizes, and for the check of all people
        level *= 1 - _SIZES_OF_BOTH - _MISSING
        self.level = level * (1 - _SHARES)
        part = level * _SHARES / 4
        self.limits = _plausible(design, drawn, self.above, self.cells[0], part)

    def rejects(self, pair: tuple[int, int], difference: float) -> NDArray[np.bool_]:
        """Return whether P(R > t | first) - P(R > t | second) is certainly less than
        `difference`.
        """
        one, other = pair
        step = self._step(pair)
        weights = list(_weights(self.design, self.drawn, pair))

        def is_rejected(v: Floats) -> NDArray[np.bool_]:
            # The test uses the better ends of cells, the limit the worse ones.
            u = np.clip(v - step, 0, 1)
            w = np.clip(u - difference + 2 * step, 0, 1)
            first, second = self._variance(one, u), self._variance(other, w)
            ours = self.above[:, one] - u * self.whole[:, one]
            theirs = self.above[:, other] - w * self.whole[:, other]
            rejected = np.ones(len(u), dtype=np.bool_)
            for weight, asked in weights:
                spread = np.sqrt(first + weight**2 * second)
                # Half a person of each group, and its law rounded to a lattice
                rounding = 0.5 + _ROUNDED * np.maximum(_FINEST, spread / _STEPS)
                value = ours - weight * theirs + (1 + weight) * rounding
                rejected &= ~asked | (value <= special.ndtri(self.level) * spread)
            return rejected

        return _rejects_all([self.limits[one], self.limits[other]], difference, is_rejected)

    def _step(self, pair: tuple[int, int]) -> Floats:
        """Return the width of a cell of the grid of shares."""
        people = self.drawn.low[:, pair]
        noises = self.design.bins * variance(self.design.distribution)
        spread = (np.sqrt(people + noises) / 2 / people).min(axis=1)
        return np.asarray(2.0 ** np.round(np.log2(_CELL * spread)))

    def _variance(self, group: int, share: Floats) -> Floats:
        """Return the variance of C - share·(C + R), with C people above the edge and R below it."""
        inside, outside = self.cells
        noises = ((1 - share) ** 2 * inside + share**2 * outside) * variance(
            self.design.distribution
        )
        return np.asarray(self.drawn.high[:, group] * share * (1 - share) + noises)


def _rejects_all(
    limits: Sequence[tuple[Floats, Floats]],
    difference: Floats | float,
    is_rejected: Callable[[Floats], NDArray[np.bool_]],
) -> NDArray[np.bool_]:
    """Return whether all plausible first shares that exceed the second by `difference` are
    rejected.
    """
    (low, high), (other_low, other_high) = limits
    first, last = np.maximum(low, other_low + difference), np.minimum(high, other_high + difference)
    reach = np.maximum(last - first, 0)
    found = np.all(
        [is_rejected(np.clip(first + look * reach, 0, 1)) for look in np.linspace(0, 1, _LOOKS)],
        axis=0,
    )
    # No plausible shares are that far apart, or all are.
    return np.asarray((found & (low - other_high <= difference)) | (high - other_low < difference))


def _plausible(
    design: AuditDesign, drawn: Releases, counts: Floats, cells: int, level: float
) -> list[tuple[Floats, Floats]]:
    """Return limits of each group's share above the edge, as in `chernoff.limits`."""
    law = sum_of_draws(design.distribution, cells)
    low = 1 - share_limits(drawn.high - counts, drawn.high, law, level)
    high = share_limits(counts, drawn.low, law, level)
    return [(low[:, group], high[:, group]) for group in range(design.groups)]


def _weights(
    design: AuditDesign, drawn: Releases, pair: tuple[int, int]
) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
    """Yield weights of the second group and the audits that use each (`thresholds._ratios`)."""
    one, other = pair
    if design.sizes != "estimated" or design.exact:
        ratio = drawn.stated[:, one] / np.maximum(drawn.stated[:, other], 1.0)
        yield ratio, np.ones(len(ratio), dtype=np.bool_)
        return
    start = np.round(np.log(drawn.low[:, one] / drawn.high[:, other]) / math.log(_RATIO))
    stop = np.round(np.log(drawn.high[:, one] / drawn.low[:, other]) / math.log(_RATIO))
    for number in range(int(start.min()), int(stop.max()) + 1):
        weight = np.full(len(start), _RATIO**number)
        yield weight, (start <= number) & (number <= stop)
