"""Limits for the shares of one event in two groups: difference, ratio, and a single share.

Each limit is missed with probability at most its level. The tests are those of `difference_test`,
with the noise of the sum of the cells that make up the event. The proof is in
docs/explanation/metrics.md.
"""

import math

import numpy as np

from auditor_client.fairness.bin_tests import GroupCounts, Tests, tests_above
from auditor_client.fairness.metrics.group_view import GroupView
from auditor_client.stats.difference_tail import Count, tail_upper_bound
from auditor_client.stats.difference_test import Contrast, constant
from auditor_client.stats.noise import Floats, distribution
from auditor_client.stats.upper_limit import contrast_upper_limit

# Bands of ratios, each with its own weights, and the number of halvings of a band for its limit.
_BAND = 1.04
_BANDS = 120
_HALVINGS = 5
_CELLS = 64
# Part of a level for an unknown number of people.
_SIZES = 0.2
_NOBODY = Count(0, 1, math.inf)


def difference_above(first: GroupCounts, second: GroupCounts, level: float) -> float:
    """Return an upper limit of p_first - p_second."""
    tests = tests_above(first, second, 2 * level)
    if not tests.by_ratio:
        return 1.0
    cells = {cell for cells in tests.by_ratio for cell in cells}
    limit = max(contrast_upper_limit(cell, constant(tests.level), -1.0, 1.0) for cell in cells)
    return min(limit + tests.missing, 1.0)


def less_noisy(first: GroupView, second: GroupView, k: int) -> tuple[GroupCounts, GroupCounts]:
    """Return two events whose shares differ by P(first k bins | first) - P(first k bins |
    second).
    """
    lower, upper = (first.lower(k), second.lower(k)), (second.upper(k), first.upper(k))
    noises = [sum(distribution(group.rate).variance for group in pair) for pair in (lower, upper)]
    return upper if noises[1] < noises[0] else lower


def ratio_above(first: GroupCounts, second: GroupCounts, level: float) -> float:
    """Return an upper limit of p_first / p_second; infinite if there is none."""
    tests = tests_above(first, second, 2 * level)
    least = min((c.p_second[0] for cells in tests.by_ratio for c in cells), default=0.0)
    if least <= 0:
        return math.inf
    # All people who are in no bin could be in this event.
    return _ratio_above(tests) + tests.missing / least


def _ratio_above(tests: Tests) -> float:
    limit = math.inf
    # From the top down: a limit holds if every band from it on is rejected.
    for band in range(_BANDS, -_BANDS - 1, -1):
        weight = _BAND**band
        if not rejects_ratio(tests, weight, weight):
            return within_band(tests, weight, weight, limit)
        limit = weight
    return limit


def within_band(tests: Tests, low: float, weight: float, high: float) -> float:
    """Return the limit inside of the first band that is not rejected whole; weights are
    fixed.
    """
    if math.isinf(high):
        return high
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if rejects_ratio(tests, middle, weight) else (middle, high)
    return high


def rejects_ratio(tests: Tests, ratio: float, weight: float) -> bool:
    """Tell whether no plausible pair of shares has p_first / p_second of `ratio` or more."""
    return all(
        _rejects_cells(cell, ratio, weight, tests.level)
        for cells in tests.by_ratio
        for cell in cells
    )


def _rejects_cells(cell: Contrast, ratio: float, weight: float, level: float) -> bool:
    low, high = max(cell.p_first[0], ratio * cell.p_second[0]), cell.p_first[1]
    if low > high:
        return True
    edges = np.linspace(low, high, _CELLS + 1)
    # On [v0, v1] the probability is largest at p_first = v0, p_second = v1 / ratio.
    second = np.minimum(edges[1:] / ratio, cell.p_second[1])
    found = tail_upper_bound(cell.first, cell.second, cell.ratio * weight, edges[:-1], second)
    return bool(np.all(found <= level))


def surely_below(group: GroupCounts, share: float, level: float) -> bool:
    """Tell whether the event's share is less than `share`; wrong with probability <= level."""
    if group.size.tells_nothing(2 * level):
        return False
    if group.size.kind != "known":
        level, size_level = level * (1 - _SIZES), level * _SIZES
        people = group.size.limits(size_level)[0]
    else:
        people = group.size.stated
    room = share - group.size.missing(2 * level)
    if people < 1 or room <= 0:
        return False
    count = Count(group.table[0], people, group.rate)
    return bool(tail_upper_bound(count, _NOBODY, 1.0, _one(min(room, 1.0)), _one(0.0))[0] <= level)


def _one(value: float) -> Floats:
    return np.full(1, value)
