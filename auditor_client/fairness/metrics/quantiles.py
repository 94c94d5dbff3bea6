"""Gaps between quantiles: for example, the difference of the median scores of women and men.

Q(q) is the smallest score with a share of at least q at or below it. Limits of one group's quantile
come from tests at the ends of bins, from the outside inwards, up to the first undecided one. An
error requires that the test at the end next to the true quantile errs, so no union bound is needed.
"""

import math
from dataclasses import dataclass

from auditor_client.fairness.metrics.estimate import Estimate
from auditor_client.fairness.metrics.event_shares import surely_below
from auditor_client.fairness.metrics.group_view import GroupView


@dataclass(frozen=True, slots=True)
class Quantile:
    """Quantile of one group, with limits; the upper limit is infinite if it may lie outside all
    bins.
    """

    value: float
    low: float
    high: float


def quantile(
    side: GroupView, limits: list[tuple[float, float]], q: float, delta: float
) -> Quantile:
    """Return Q(q) and its limits, each missed with probability at most delta/2."""
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
    """Return Q_first(q) - Q_second(q), for scores within the bins, without loss to rounding."""
    one, other = (quantile(side, limits, q, delta / 2) for side in (first, second))
    return Estimate(
        f"gap of the {q:g} quantile",
        (first.name, second.name),
        one.value - other.value,
        one.low - other.high,
        one.high - other.low,
        delta,
    )
