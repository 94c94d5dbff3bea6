"""Worst impact ratio over all thresholds, with its limits: the four-fifths rule for every t.

    IR = min over groups a, b and edges t of P_a(R > t) / P_b(R > t)

taken over the edges above which b may have a share of at least s: the upper confidence limit of
that share is at least s. The smallest ratio at an edge has the best-served group as its
denominator. A ratio of two shares near zero is unknown, so other edges have no information.

Levels, bands and proofs are in docs/explanation/intervals.md, "The worst impact ratio", and in
docs/explanation/metrics.md (one ratio).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from auditor_client.fairness.bin_tests import GroupCounts, Tests, tests_above
from auditor_client.fairness.gap_bounds import one_sided_delta
from auditor_client.fairness.metrics.event_shares import rejects_ratio, within_band
from auditor_client.fairness.thresholds import above_edge, edge_levels
from auditor_client.stats import chernoff
from auditor_client.stats.noise import variance

FOUR_FIFTHS = 0.8
# Smallest share of the best-served group at which a ratio counts.
LEAST_SHARE = 0.2
# Bands of ratios: their step, and the largest ratio that is distinguished from infinity.
_STEP = 1.05
_MOST = 100
# Part of the lower limit's level that excludes edges.
_SELECTION = 0.1
_SIZES = 0.2
# Number of claims that are tried for the upper limit. More claims could only lower it.
_TRIED = 3

FourFifths = Literal["passes", "fails", "inconclusive"]


@dataclass(frozen=True, slots=True)
class ImpactRatio:
    """Smallest ratio of shares above one edge, with limits at confidence 1 - delta.

    `groups` names the worst-served group and its comparison group, as measured, at `edge`.
    `at_least` and `at_most` hold alone, each at 1 - delta. If no edge can have a best-served share
    of `least_share`, `edge` is None and the ratio is open.
    """

    estimate: float
    low: float
    high: float
    groups: tuple[str, str]
    edge: int | None
    delta: float
    at_least: float
    at_most: float
    least_share: float

    def four_fifths(self, least: float = FOUR_FIFTHS) -> FourFifths:
        """Return whether every ratio is at least 4/5; wrong with probability at most delta."""
        if self.edge is not None and self.at_least >= least:
            return "passes"
        return "fails" if self.at_most < least else "inconclusive"


@dataclass(frozen=True, slots=True)
class _SharePair:
    """Shares above one edge: of the group that may be worse served, and of the other group."""

    names: tuple[str, str]
    edge: int
    worse: GroupCounts
    better: GroupCounts

    @property
    def measured(self) -> float:
        less = max(self.worse.table[0] / self.worse.size.estimate, 0.0)
        more = self.better.table[0] / self.better.size.estimate
        return less / more if more > 0 else math.inf

    def guess(self, deviations: float) -> float:
        """Return the log ratio plus `deviations` standard deviations, a first guess for the
        search.
        """
        logs, spread = [], 0.0
        for event in (self.worse, self.better):
            people = max(event.size.estimate, 1.0)
            count = max(float(event.table[0]), 0.5)
            share = min(count / people, 1.0)
            logs.append(math.log(share))
            spread += (count * (1 - share) + variance(event.rate)) / count**2
        return logs[0] - logs[1] + deviations * math.sqrt(spread)


def worst_impact(
    groups: Mapping[str, GroupCounts],
    delta: float,
    least_share: float = LEAST_SHARE,
    *,
    outside: bool = False,
) -> ImpactRatio:
    """Return the worst ratio of all pairs of groups and edges; with `outside`, the last count is of
    no bin.

    The edge below the count of scores outside all bins is not a threshold of the scores.
    """
    if not 0 < least_share <= 1:
        raise ValueError(f"least_share must lie between 0 and 1, not {least_share}")
    last = len(next(iter(groups.values())).table) - (1 if outside else 0)
    alone = one_sided_delta(delta)
    counted = _counted(groups, range(1, last), alone / 2 * _SELECTION, least_share)
    if not counted:
        names = next(permutations(groups, 2))
        return ImpactRatio(1.0, 0.0, 1.0, names, None, delta, 0.0, 1.0, least_share)
    worst = min(counted, key=lambda pair: pair.measured)
    edges = max(last - 1, 1)
    at_most = _most(counted, alone, edges, len(groups))
    at_least = min(_least(counted, alone), at_most)
    wide = _counted(groups, range(1, last), delta / 2 * _SELECTION, least_share)
    high = max(_most(wide, delta, edges, len(groups)), at_most) if at_most < 1 else 1.0
    low = min(_least(wide, delta), at_least) if at_least > 0 else 0.0
    return ImpactRatio(
        min(worst.measured, 1.0), low, high, worst.names, worst.edge, delta, at_least, at_most,
        least_share,
    )  # fmt: skip


def _counted(
    groups: Mapping[str, GroupCounts], edges: range, level: float, least_share: float
) -> list[_SharePair]:
    """Return the pairs at the edges above which the second group may have the required share."""
    found = []
    for edge in edges:
        events = {name: above_edge(group, edge) for name, group in groups.items()}
        may = [name for name, event in events.items() if _share_limit(event, level) >= least_share]
        found += [
            _SharePair((worse, better), edge, events[worse], events[better])
            for better in may
            for worse in events
            if worse != better
        ]
    return found


def _share_limit(event: GroupCounts, level: float) -> float:
    size = event.size
    if size.tells_nothing(2 * level):
        return 1.0
    own = level if size.kind == "known" else level * (1 - _SIZES)
    people = max(size.limits(level * _SIZES)[0], 1)
    [(_, high)] = chernoff.limits(event.table, (people, people), event.rate, own)
    return min(high + size.missing(2 * level), 1.0)


def _least(counted: Sequence[_SharePair], delta: float) -> float:
    """Return a lower limit of every ratio, missed by the smallest with probability at most
    delta/2.
    """
    limit = 1.0
    for pair in sorted(counted, key=lambda pair: pair.guess(-2.0)):
        tests = tests_above(pair.better, pair.worse, delta * (1 - _SELECTION))
        limit = 1 / _inverse_limit(tests, 1 / limit)
        if limit < 1 / _MOST:
            return 0.0
    return limit


def _most(counted: Sequence[_SharePair], delta: float, edges: int, groups: int) -> float:
    """Return an upper limit of the smallest ratio: all edges and pairs hold at once."""
    parts = edge_levels(edges)
    ordered = groups * (groups - 1)
    found = 1.0
    for pair in sorted(counted, key=lambda pair: pair.guess(2.5))[:_TRIED]:
        tests = tests_above(pair.worse, pair.better, delta * float(parts[pair.edge - 1]) / ordered)
        found = min(found, _inverse_limit(tests, 0.0))
    return found


def _inverse_limit(tests: Tests, floor: float) -> float:
    """Return an upper limit of p_first / p_second, not searched below `floor`; it may be infinite.

    The search goes from the top down: a limit holds if every band from it on is rejected.
    """
    cells = [cell for cells in tests.by_ratio for cell in cells]
    least = min((cell.p_second[0] for cell in cells), default=0.0)
    if least <= 0:
        return math.inf
    # All people who are in no bin could be in this event.
    spare = tests.missing / least
    top = max(cell.p_first[1] for cell in cells) / least
    # All ratios beyond the largest band form one band.
    if top > _MOST and not rejects_ratio(tests, _MOST, _MOST):
        return math.inf
    band = math.ceil(math.log(min(top, _MOST)) / math.log(_STEP))
    while _STEP**band > max(floor, 1 / _MOST):
        weight = _STEP ** (band - 1)
        ratio = max(weight, floor)
        if not rejects_ratio(tests, ratio, weight):
            return within_band(tests, ratio, weight, _STEP**band) + spare
        band -= 1
    return max(floor, _STEP**band) + spare
