"""Largest gap of P(R > t) over all bin edges t, with its limits.

    TG = max over pairs of groups and edges t of |P_a(R > t) - P_b(R > t)|      [IKH23, eq. 5]

A smooth bias spreads over many bins and escapes the gap of single bins, but it adds up in the
tails. A tail is counted from the side with less noise. Scores outside all bins count as above every
edge. The upper limit is an intersection-union test, the lower one a union over pairs and edges.
Their levels and proofs are in docs/explanation/intervals.md, "All edges together".

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §5.1, eq. 5.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import permutations

import numpy as np
from scipy import special

from auditor_client.fairness.bin_tests import GroupCounts, Tests, tests_above
from auditor_client.fairness.gap_bounds import highest_limit, one_sided_delta, reject_beyond
from auditor_client.stats import chernoff
from auditor_client.stats.centred_difference import Event, difference_limit, exceeds
from auditor_client.stats.difference_test import Contrast, constant, least_favourable
from auditor_client.stats.noise import (
    AnyNoise,
    Floats,
    MomentBoundNoise,
    Noise,
    NoNoise,
    distribution,
    sum_of_draws,
    variance,
)
from auditor_client.stats.upper_limit import contrast_upper_limit

# Parts of an edge's level: for the claim of the right sign, and for that of the wrong one.
_RIGHT, _WRONG = 0.9, 0.1
# Number of claims that are tried for a lower limit. More claims could only raise it.
_TRIED = 3
# Part of a level for limits of private sizes.
_SIZES = 0.05
_RATIO = 1.3
# Number of evenly spaced edges that share most of the level if there are more edges.
_COARSE, _OF_COARSE = 8, 0.8
# Of the level of an upper limit, what goes to the check that the bins account for everybody.
_MISSING = 0.02
# Claims (pairs times edges) up to which upper limits count both sides; more would take minutes.
_MOST_CENTRED = 500
# Separates a limit beyond alpha from one of exactly alpha.
_HAIR = 1e-12
# From this variance of all bins on, both sides are worth more than exact steps of one side.
_BOTH_SIDES = 30


@dataclass(frozen=True, slots=True)
class ThresholdGap:
    """Largest difference of shares above one edge, with limits at confidence 1 - delta.

    `groups` names the pair with the largest measured difference, the group with more people above
    first. Edge k lies between bins k - 1 and k. `at_least` and `at_most` hold alone, each at
    1 - delta; `low` and `high` hold together, for all edges and pairs at once.
    """

    estimate: float
    low: float
    high: float
    groups: tuple[str, str]
    edge: int
    delta: float
    at_least: float
    at_most: float


@dataclass(frozen=True, slots=True)
class _Claim:
    """Two events: the share above an edge in one group minus that in another is p_one - p_other."""

    one: GroupCounts
    other: GroupCounts
    edge: int
    more: GroupCounts
    less: GroupCounts

    @property
    def centred(self) -> bool:
        """Whether both sides of the edge are counted: for private sizes, and for many bins."""
        if not (distribution(self.more.rate).exact and distribution(self.less.rate).exact):
            return False
        known = self.more.size.kind == self.less.size.kind == "known"
        return both_sides(len(self.more.table), self.more.rate, known=known)


def both_sides(bins: int, rate: AnyNoise, *, known: bool) -> bool:
    """Return whether both sides of an edge are counted, which follows from the design alone."""
    if isinstance(distribution(rate), NoNoise):
        return False
    return not known or bins * variance(rate) >= _BOTH_SIDES


def threshold_gap(groups: Mapping[str, GroupCounts], delta: float) -> ThresholdGap | None:
    """Return the gap over all edges, or None for one bin, which has no edge."""
    known = list(groups.values())
    if len(known[0].table) < 2:
        return None
    estimate, names, edge = _largest(groups)
    alone = one_sided_delta(delta)
    most = upper_limit(known, alone)
    least = min(lower_limit(known, alone), most)
    high = upper_limit(known, delta, floor=most)
    low = min(lower_limit(known, delta), least) if least > 0 else 0.0
    return ThresholdGap(estimate, low, high, names, edge, delta, least, most)


def upper_limit(groups: Sequence[GroupCounts], delta: float, floor: float = 0.0) -> float:
    """Return a limit of TG, missed with probability at most delta/2; not searched below `floor`."""
    by_one_side, centred = _split(groups, delta / 2)
    tests = [tests_above(claim.one, claim.other, delta) for claim in by_one_side]
    limit = highest_limit(tests, floor) if tests else floor
    # The largest measured differences first: they raise the floor of the others.
    for claim in sorted(centred, key=_measured, reverse=True):
        if limit >= 1:
            return 1.0
        limit = max(limit, _centred_above(claim, delta / 2, limit))
    return limit


def _split(groups: Sequence[GroupCounts], level: float) -> tuple[list[_Claim], list[_Claim]]:
    """Return the claims that are tested by one side of an edge, and those by both.

    By design, both sides are counted where sizes are private, unless there are too many claims. A
    group whose bins do not account for its people goes back to one side: if they do account for
    them, this happens with probability at most `_MISSING` of the level.
    """
    claims = [claim for pair in permutations(groups, 2) for claim in _claims(*pair)]
    if len(claims) > _MOST_CENTRED or not all(claim.centred for claim in claims):
        return claims, []
    # `id`: groups may be equal.
    short = {id(group) for group in groups if group.size.missing(level * _MISSING / 2) > 0}
    doubtful = [claim for claim in claims if {id(claim.more), id(claim.less)} & short]
    return doubtful, [claim for claim in claims if claim not in doubtful]


def lower_limit(groups: Sequence[GroupCounts], delta: float) -> float:
    """Return a lower limit of TG, missed with probability at most delta/2."""
    return max((_below(claim, level) for claim, level in _likely(groups, delta)), default=0.0)


def _likely(groups: Sequence[GroupCounts], delta: float) -> list[tuple[_Claim, float]]:
    """Return the claims that promise the largest lower limits, with their levels."""
    level = delta / (len(groups) * (len(groups) - 1))
    shares = edge_levels(len(groups[0].table) - 1)
    claims = [
        (claim, level * float(shares[claim.edge - 1]))
        for pair in permutations(groups, 2)
        for claim in _claims(*pair)
    ]
    return nsmallest(_TRIED, claims, key=lambda item: _promise(*item))


def certify_within(groups: Sequence[GroupCounts], delta: float, alpha: float) -> bool:
    """Return whether `upper_limit` is at most alpha, without searching for it."""
    by_one_side, centred = _split(groups, delta / 2)
    return all(
        reject_beyond(tests_above(claim.one, claim.other, delta), alpha) for claim in by_one_side
    ) and all(
        not _exceeds_by_both_sides(claim, delta / 2, alpha)
        for claim in sorted(centred, key=_measured, reverse=True)
    )


def certify_beyond(groups: Sequence[GroupCounts], delta: float, alpha: float) -> bool:
    """Return whether `lower_limit` is more than alpha, without searching for it."""
    return any(_is_beyond(claim, level, alpha) for claim, level in _likely(groups, delta))


def _is_beyond(claim: _Claim, level: float, alpha: float) -> bool:
    if not claim.centred:
        return _below(claim, level) > alpha
    return all(
        not exceeds(less, more, ratio, at, -alpha - _HAIR)
        for less, more, ratio, at in _tests_of_lower_limit(claim, level)
    )


def edge_levels(edges: int) -> Floats:
    """Return each edge's part of a level: equal parts for few edges, else most of it for a few
    edges.
    """
    if edges <= _COARSE + 5:
        return np.full(edges, 1 / max(edges, 1))
    coarse = np.unique(
        np.round(np.arange(1, _COARSE + 1) * (edges + 1) / (_COARSE + 1)).astype(int)
    )
    parts = np.full(edges, (1 - _OF_COARSE) / edges)
    parts[coarse - 1] += _OF_COARSE / len(coarse)
    return parts


def top_share_limit(groups: Sequence[GroupCounts], delta: float, *, outside: bool) -> float:
    """Return an upper limit, at 1 - delta, of the share of all people above the highest edge.

    `outside`: the last count is of scores outside all bins, so no edge lies below it. The number of
    people of several groups is not binomial, but its exponential moments are at most those of a
    binomial number with the mean share. Chernoff's bound uses only these moments
    (docs/explanation/intervals.md).
    """
    cells = 2 if outside else 1
    if len(groups[0].table) <= cells:
        return 1.0
    above = sum(sum(group.table[-cells:]) for group in groups)
    people = sum(_fewest(group, delta * 0.2 / len(groups)) for group in groups)
    level = delta if all(group.size.kind == "known" for group in groups) else delta * 0.8
    noise = sum_of_draws(groups[0].rate, cells * len(groups))
    if people < 1:
        return 1.0
    [(_, high)] = chernoff.limits((above,), (people, people), noise, level)
    # All people who are in no bin could be above the edge.
    missing = max(group.size.missing(one_sided_delta(delta)) for group in groups)
    return min(high + missing, 1.0)


def _fewest(group: GroupCounts, level: float) -> int:
    return max(group.size.limits(level)[0], 0)


def above_edge(group: GroupCounts, edge: int) -> GroupCounts:
    """Return the number of people of a group above an edge, as an event."""
    return _event(group, group.table[edge:])


def below_edge(group: GroupCounts, edge: int) -> GroupCounts:
    """Return the number of people of a group below an edge, as an event."""
    return _event(group, group.table[:edge])


def _event(group: GroupCounts, cells: tuple[int, ...]) -> GroupCounts:
    return GroupCounts((sum(cells),), group.size, _sum_noise(group, len(cells)))


def _sum_noise(group: GroupCounts, cells: int) -> Noise:
    one = distribution(group.rate)
    if isinstance(one, MomentBoundNoise):
        return MomentBoundNoise(sum_of_draws(one.one, cells))
    return sum_of_draws(one, cells)


def _claims(more: GroupCounts, less: GroupCounts) -> Iterator[_Claim]:
    """Yield the difference of `more` minus `less` above every edge, by the side with less noise."""
    for edge in range(1, len(more.table)):
        above = above_edge(more, edge), above_edge(less, edge)
        below = below_edge(less, edge), below_edge(more, edge)
        noises = [sum(variance(group.rate) for group in side) for side in (above, below)]
        yield _Claim(*(below if noises[1] < noises[0] else above), edge, more, less)


def _against(claim: _Claim, level: float) -> Tests:
    """Return tests of p_other - p_one: minus its upper limit is a lower limit of the claim."""
    return tests_above(claim.other, claim.one, 2 * level)


def _promise(claim: _Claim, level: float) -> float:
    """Return a guess of minus the lower limit: the start of the search, never a result."""
    if claim.centred:
        sizes = claim.more.size.estimate, claim.less.size.estimate
        apart = _tail(claim.less, claim.edge) - _tail(claim.more, claim.edge)
        share = min(max((_tail(claim.less, claim.edge) + _tail(claim.more, claim.edge)) / 2, 0), 1)
        noises = len(claim.more.table) * variance(claim.more.rate) / 4
        spread = sum(share * (1 - share) / n + noises / n**2 for n in sizes)
        return float(apart - special.ndtri(level) * math.sqrt(spread))
    tests = _against(claim, level)
    found = [cell.approximate(tests.level) for cells in tests.by_ratio for cell in cells]
    return max(found, default=1.0) + tests.missing


def _below(claim: _Claim, level: float) -> float:
    if claim.centred:
        return _centred_below(claim, level)
    tests = _against(claim, level)
    cells = [cell for cells in tests.by_ratio for cell in cells]
    if not cells or not all(_positive(cell, tests.level) for cell in cells):
        return 0.0
    limit = max(
        contrast_upper_limit(
            cell, constant(tests.level * _RIGHT), max(min(cell.observed, 0.0), -1.0), 0.0
        )
        for cell in cells
    )
    return max(-limit - tests.missing, 0.0)


def _centred_below(claim: _Claim, level: float) -> float:
    """Return the lower limit from the counts on both sides of the edge."""
    limit = -1.0
    for less, more, ratio, at in _tests_of_lower_limit(claim, level):
        limit = difference_limit(less, more, ratio, at, limit)
    return max(-limit, 0.0)


def _tests_of_lower_limit(
    claim: _Claim, level: float
) -> Iterator[tuple[Event, Event, float, float]]:
    """Yield the events, weight and level of each test whose limit bounds the claim from below.

    If the counts do not account for the people, or do not even show a difference of this sign, the
    only test is one of nobody, whose limit is useless.
    """
    sizes = claim.more.size, claim.less.size
    silent = any(size.tells_nothing(2 * level) or size.missing(2 * level) > 0 for size in sizes)
    size_level, level = level * _SIZES / 4, level * (1 - _SIZES)
    less, more = (_sides(group, claim.edge, size_level) for group in (claim.less, claim.more))
    if silent or min(*less.people, *more.people) < 1:
        yield _test_of_nobody(less, level)
        return
    ratios = _ratios((claim.less, less.people), (claim.more, more.people))
    if any(exceeds(less, more, ratio, level * _WRONG, 0.0) for ratio in ratios):
        yield _test_of_nobody(less, level)
        return
    for ratio in ratios:
        yield less, more, ratio, level * _RIGHT


def _test_of_nobody(event: Event, level: float) -> tuple[Event, Event, float, float]:
    """Return a test without people: nothing is known, and its limit is 1."""
    nobody = Event(0, 0, event.cells, (0, 0), event.noise)
    return nobody, nobody, 1.0, level


def _centred_above(claim: _Claim, level: float, floor: float) -> float:
    """Return the upper limit from the counts on both sides, not searched below `floor`."""
    limit = floor
    for more, less, ratio, at in _tests_of_upper_limit(claim, level):
        limit = difference_limit(more, less, ratio, at, limit)
    return limit


def _exceeds_by_both_sides(claim: _Claim, level: float, alpha: float) -> bool:
    """Return whether that limit is larger than alpha, without searching for it."""
    return any(
        exceeds(more, less, ratio, at, alpha)
        for more, less, ratio, at in _tests_of_upper_limit(claim, level)
    )


def _tests_of_upper_limit(
    claim: _Claim, level: float
) -> Iterator[tuple[Event, Event, float, float]]:
    """Yield the events, weight and level of each test whose limit bounds the claim's difference."""
    silent = any(group.size.tells_nothing(2 * level) for group in (claim.more, claim.less))
    size_level, level = level * _SIZES / 4, level * (1 - _SIZES - _MISSING)
    more, less = (_sides(group, claim.edge, size_level) for group in (claim.more, claim.less))
    if silent or min(*more.people, *less.people) < 1:
        yield _test_of_nobody(more, level)
        return
    for ratio in _ratios((claim.more, more.people), (claim.less, less.people)):
        yield more, less, ratio, level


def _measured(claim: _Claim) -> float:
    return _tail(claim.more, claim.edge) - _tail(claim.less, claim.edge)


def _sides(group: GroupCounts, edge: int, level: float) -> Event:
    above, below = group.table[edge:], group.table[:edge]
    cells = len(above), len(below)
    people = group.size.limits(level)
    return Event(sum(above), sum(below), cells, people, distribution(group.rate))


def _ratios(
    first: tuple[GroupCounts, tuple[int, int]], second: tuple[GroupCounts, tuple[int, int]]
) -> list[float]:
    """Return the weights of the second group that the tests need, by limits of its people.

    Known or separately bought sizes do not depend on the counts. Otherwise each possible ratio of
    sizes has its own test, at the nearest power of `_RATIO`.
    """
    (one, people), (other, others) = first, second
    if "estimated" not in (one.size.kind, other.size.kind):
        return [one.size.stated / other.size.stated]
    start = round(math.log(people[0] / others[1]) / math.log(_RATIO))
    stop = round(math.log(people[1] / others[0]) / math.log(_RATIO))
    return [_RATIO**step for step in range(start, stop + 1)]


def _positive(cell: Contrast, level: float) -> bool:
    """Tell whether this edge shows a gap of the claimed sign at all."""
    if cell.approximate(level / 2) >= 0:
        return False
    return least_favourable(cell, 0.0, constant(level * _WRONG)).rejected


def _largest(groups: Mapping[str, GroupCounts]) -> tuple[float, tuple[str, str], int]:
    best: tuple[float, tuple[str, str], int] | None = None
    for edge in range(1, len(next(iter(groups.values())).table)):
        shares = {name: _tail(group, edge) for name, group in groups.items()}
        more, less = max(shares, key=lambda k: shares[k]), min(shares, key=lambda k: shares[k])
        if best is None or shares[more] - shares[less] > best[0]:
            names = (more, less) if more != less else (more, next(n for n in groups if n != more))
            best = shares[more] - shares[less], names, edge
    assert best is not None  # noqa: S101 - there is at least one edge
    return best


def _tail(group: GroupCounts, edge: int) -> float:
    """Return the measured share above an edge, by the side with less noise."""
    size = group.size.estimate
    if 2 * edge < len(group.table):
        return 1 - sum(group.table[:edge]) / size
    return sum(group.table[edge:]) / size
