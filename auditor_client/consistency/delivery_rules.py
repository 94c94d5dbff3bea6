"""Deliveries that scores can explain: all rules by which a higher score never hurts.

Assumption: delivery depends on the score alone. Such a rule is a mixture of thresholds. So
(P(shown | less), P(shown | more)) is a mixture of the pairs of shares above a threshold. The
largest P(shown | more) at a given P(shown | less) is a linear programme over mixtures. Its solution
has at most two thresholds, hence a closed form: the upper concave envelope of the pairs.

A release gives a simultaneous band of these shares; the programme is solved at its ends
(docs/how-to/researchers/check-for-canaries.md, "What is tested").
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.fairness.metrics.event_shares import surely_below
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.stats.noise import Floats, sum_of_draws
from openapi.resources import Levels

_HALVINGS = 18


@dataclass(frozen=True)
class GroupScores:
    """Noisy counts of one group in rising order of the score; the last count is of people in no
    bin.

    `exact`: each bin is one score, so no threshold lies inside it.
    """

    name: str
    group: GroupCounts
    exact: bool = False

    @property
    def bins(self) -> int:
        return len(self.group.table) - 1

    def above_at_most(self, k: int, level: float) -> float:
        """Return an upper limit of the share at or above bin k; people in no bin may be there
        too.
        """
        return 1.0 if k == 0 else self._at_most([*range(k, self.bins + 1)], level)

    def above_at_least(self, k: int, level: float) -> float:
        """Return a lower limit of the share at or above bin k; people in no bin may be below it."""
        return 0.0 if k == self.bins else 1.0 - self._at_most([*range(k), self.bins], level)

    def _at_most(self, cells: Sequence[int], level: float) -> float:
        counts = self.group
        total = sum(counts.table[cell] for cell in cells)
        event = GroupCounts((total,), counts.size, sum_of_draws(counts.rate, len(cells)))
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if surely_below(event, middle, level) else (middle, high)
        return high


@dataclass(frozen=True)
class DeliveryRegion:
    """Corners of the upper envelope; `less` rises from 0 to 1, and `more` with it."""

    less: Floats
    more: Floats

    def most(self, less: Floats | float) -> Floats:
        """Return the largest P(shown | more) of any rule that delivers to this share of `less`."""
        return np.asarray(np.interp(less, self.less, self.more))

    @property
    def lowest_rate(self) -> float:
        """The lowest delivery rate that can be checked.

        At a lower rate, a rule of scores may send all deliveries to one group.
        """
        return float(self.more[0])


def delivery_region(more: GroupScores, less: GroupScores, level: float) -> DeliveryRegion:
    """Return the pairs of delivery rates that the scores allow; wrong with probability at most
    `level`.
    """
    bins = more.bins
    share = level / max(2 * (bins - 1), 1)
    highs = [more.above_at_most(k, share) for k in range(bins)]
    first = 0 if more.exact else 1
    lows = [0.0, *(less.above_at_least(k, share) for k in range(1, bins)), 0.0]
    points = np.array([(lows[k + first], highs[k]) for k in range(bins)] + [(1.0, 1.0)])
    return DeliveryRegion(*_envelope(points))


def scores_of(audit: ScoreHistogramResult) -> dict[str, GroupScores]:
    """Return the groups of a release, with bins in rising order of the score."""
    bins = audit.release.bins
    exact = isinstance(bins, Levels)
    order = np.argsort(bins.levels).tolist() if isinstance(bins, Levels) else None
    found = {}
    for name, group in audit.groups().items():
        table = group.table
        if order is not None:
            table = (*(table[k] for k in order), table[-1])
        found[name] = GroupScores(name, GroupCounts(table, group.size, group.rate), exact)
    return found


def _envelope(points: NDArray[np.float64]) -> tuple[Floats, Floats]:
    """Return the corners of the upper concave envelope of points, from x = 0 to x = 1."""
    start = float(points[points[:, 0] <= 0, 1].max(initial=0.0))
    ordered = sorted([(0.0, start), *map(tuple, points.tolist())])
    corners: list[tuple[float, float]] = []
    for x, y in ordered:
        if corners and y <= corners[-1][1]:
            continue
        while len(corners) > 1 and _left_of(corners[-2], corners[-1], (x, y)):
            corners.pop()
        if corners and corners[-1][0] == x:
            corners.pop()
        corners.append((x, y))
    if corners[-1][0] < 1.0:
        corners.append((1.0, corners[-1][1]))
    xs, ys = zip(*corners, strict=True)
    return np.asarray(xs), np.asarray(ys)


def _left_of(
    first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]
) -> bool:
    """Tell whether the middle point lies on or below the line through the others."""
    (x0, y0), (x1, y1), (x2, y2) = first, middle, last
    return (y1 - y0) * (x2 - x0) <= (y2 - y0) * (x1 - x0)
