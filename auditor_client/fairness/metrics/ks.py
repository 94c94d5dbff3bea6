"""Kolmogorov-Smirnov distance: the largest difference of two cumulative shares at the ends of bins.

    KS = max over k of |F_a(k) - F_b(k)|, F(k) the share of people in the first k bins

Between the ends of bins scores may differ by more: this is a lower bound of the statistic of the
scores themselves, and exact for levels. Above, no union over bins is needed: KS is the difference
at one end, in one direction. Below, ends and directions share the level.
"""

from heapq import nsmallest

from auditor_client.fairness.bin_tests import tests_above
from auditor_client.fairness.gap_bounds import highest_limit
from auditor_client.fairness.metrics.estimate import Estimate
from auditor_client.fairness.metrics.event_shares import difference_above, less_noisy
from auditor_client.fairness.metrics.group_view import GroupView

MEASURE = "Kolmogorov–Smirnov distance"
# Number of ends that are tried for the lower limit. More ends could only raise it.
_TRIED = 3


def kolmogorov_smirnov(first: GroupView, second: GroupView, delta: float) -> Estimate:
    """Return the distance and its limits, each missed with probability at most delta/2."""
    ends = range(1, first.bins + 1)
    claims = [less_noisy(*pair, k) for k in ends for pair in ((first, second), (second, first))]
    high = highest_limit([tests_above(*claim, delta) for claim in claims])
    level = delta / 2 / len(claims)
    likely = nsmallest(_TRIED, claims, key=lambda claim: _observed(claim))
    low = max(-difference_above(*claim, level) for claim in likely)
    value = max(abs(first.share_below(k) - second.share_below(k)) for k in ends)
    low, high = max(min(low, high), 0.0), max(high, 0.0)
    return Estimate(MEASURE, (first.name, second.name), value, low, high, delta)


def _observed(claim: tuple) -> float:  # type: ignore[type-arg]
    one, other = claim
    return float(one.table[0] / one.size.estimate - other.table[0] / other.size.estimate)
