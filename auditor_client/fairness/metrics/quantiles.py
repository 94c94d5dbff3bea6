"""Gaps between quantiles: half of the women score below this, half of the men below that.

Q(q) is the least score with a share of at least q at or below it. Limits of one group's quantile
come from tests at the ends of bins, from the outside inwards, stopping at the first that is not
decided: to err, the test at the end next to the true quantile must err, so no union is needed.
"""

import math
from dataclasses import dataclass

from auditor_client.fairness.metrics.estimate import Estimate
from auditor_client.fairness.metrics.event_shares import surely_below
from auditor_client.fairness.metrics.group_view import GroupView


@dataclass(frozen=True, slots=True)
class Quantile:
    """One group's quantile; infinite above where it may lie outside of all bins."""

    value: float
    low: float
    high: float


def quantile(
    side: GroupView, limits: list[tuple[float, float]], q: float, delta: float
) -> Quantile:
    """Limits of Q(q), each missed with probability at most delta/2."""
    ends = len(limits)
    top = ends + 1
    # Q <= the end of bin k, if the share below it is at least q, so the rest is below 1 - q.
    while top > 1 and surely_below(side.upper(top - 1), 1 - q, delta / 2):
        top -= 1
    bottom = 0
    # Q > the end of bin k, if the share below it is less than q.
    while bottom < ends - 1 and surely_below(side.lower(bottom + 1), q, delta / 2):
        bottom += 1
    shares = [side.share_below(k) for k in range(1, ends + 1)]
    at = next((k for k, share in enumerate(shares) if share >= q), ends - 1)
    high = math.inf if top > ends else limits[top - 1][1]
    return Quantile(sum(limits[at]) / 2, limits[min(bottom, top - 1)][0], high)


def quantile_gap(
    first: GroupView, second: GroupView, limits: list[tuple[float, float]], q: float, delta: float
) -> Estimate:
    """Q_first(q) - Q_second(q), within the bins: nothing is lost to rounding."""
    one, other = (quantile(side, limits, q, delta / 2) for side in (first, second))
    return Estimate(
        f"gap of the {q:g} quantile",
        (first.name, second.name),
        one.value - other.value,
        one.low - other.high,
        one.high - other.low,
        delta,
    )
