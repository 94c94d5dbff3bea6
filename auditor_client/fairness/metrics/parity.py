"""Demographic parity at a threshold, and the ratio of the four-fifths rule.

A person is selected if they score at or above the threshold; s_a is the selected share of group a.

    demographic parity   s_a - s_b
    impact ratio         s_a / s_b; the four-fifths rule asks for at least 0.8 of the larger share

On an audience of qualified people only, parity is equality of opportunity (`opportunity`).
"""

import math

import numpy as np

from auditor_client.fairness.metrics.estimate import Estimate
from auditor_client.fairness.metrics.event_shares import difference_above, less_noisy, ratio_above
from auditor_client.fairness.metrics.group_view import GroupView
from auditor_client.fairness.metrics.means import limits


def parity(first: GroupView, second: GroupView, k: int, delta: float, measure: str) -> Estimate:
    """Return the difference of selected shares, where the first k bins are not selected."""
    if first.size.kind == second.size.kind == "known":
        # s_a - s_b is the share of b in the first k bins minus that of a.
        high = difference_above(*less_noisy(second, first, k), delta / 2)
        low = -difference_above(*less_noisy(first, second, k), delta / 2)
    else:
        # A share is a mean of ones and zeros: betting on it needs no number of people.
        selected = (np.arange(first.bins + 1) >= k).astype(np.float64)
        low, high = limits(first, second, selected, delta)
    value = second.share_below(k) - first.share_below(k)
    return Estimate(measure, (first.name, second.name), value, min(low, high), high, delta)


def impact_ratio(
    first: GroupView, second: GroupView, k: int, delta: float, measure: str
) -> Estimate:
    """Return the ratio of selected shares."""
    one, other = first.upper(k), second.upper(k)
    high = ratio_above(one, other, delta / 2)
    low = 1 / ratio_above(other, one, delta / 2)
    below = max(1 - second.share_below(k), 0.0)
    value = max(1 - first.share_below(k), 0.0) / below if below else math.inf
    names = (first.name, second.name)
    return Estimate(measure, names, value, min(low, high), high, delta, fair=1.0)


def passes_four_fifths(estimate: Estimate, least: float = 0.8) -> str:
    """Return `passes` if neither group has less than 4/5 of the other, `fails`, or
    `inconclusive`.
    """
    if estimate.low >= least and estimate.high <= 1 / least:
        return "passes"
    beyond = estimate.high < least or estimate.low > 1 / least
    return "fails" if beyond else "inconclusive"
