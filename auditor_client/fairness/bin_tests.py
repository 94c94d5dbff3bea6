"""Tests, one per bin, that bound the gap of two groups, from their noisy counts.

A level is split into parts: limits for unknown numbers of people, limits of the plausible shares,
and the tests themselves. docs/explanation/intervals.md shows that the parts add up.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nsmallest

from auditor_client.stats import chernoff
from auditor_client.stats.difference_tail import Count
from auditor_client.stats.difference_test import Contrast
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import AnyNoise

# Parts of a level: for unknown sizes; for the plausible shares.
_SIZES = 0.2
_SHARES = 0.02
# Number of bins that are tried for a lower limit. More bins could only raise it.
_TRIED = 3
_RATIO_STEP = math.log(1.15)


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Noisy counts of one group, their noise (distribution or rate), and estimate of its size."""

    table: tuple[int, ...]
    size: GroupSizeEstimate
    rate: AnyNoise


@dataclass(frozen=True, slots=True)
class Tests:
    """Tests of p_more - p_less: contrasts of the bins for each ratio of sizes. It may be empty."""

    by_ratio: tuple[tuple[Contrast, ...], ...]
    level: float
    bins: int
    missing: float


def tests_above(more: GroupCounts, less: GroupCounts, delta: float) -> Tests:
    """Return the tests that must all be rejected to rule out a difference."""
    level, size_level = _split(more, less, delta / 2)
    share_level, level = level * _SHARES / 4, level * (1 - _SHARES)
    found = _contrasts(more, less, size_level, share_level, delta)
    by_ratio = tuple(tuple(cells) for cells in found)
    return Tests(by_ratio, level, len(more.table), more.size.missing(delta))


def tests_below(more: GroupCounts, less: GroupCounts, delta: float, pairs: int) -> Tests:
    """Return contrasts of p_less - p_more: minus its upper limit is a lower limit of p_more -
    p_less.
    """
    level, size_level = _split(more, less, delta / 2 / pairs)
    bins = len(more.table)
    share_level, level = level * _SHARES / (4 * bins), level * (1 - _SHARES)
    found = tuple(
        tuple(nsmallest(_TRIED, cells, key=lambda cell: cell.approximate(level / bins)))
        for cells in _contrasts(less, more, size_level, share_level, delta)
    )
    return Tests(found, level, bins, less.size.missing(delta))


def tests_each(first: GroupCounts, second: GroupCounts, level: float) -> Tests:
    """Return contrasts of p_first - p_second in every bin, for limits that hold in all bins at
    once.
    """
    level, size_level = _split(first, second, level)
    share_level, level = level * _SHARES / (4 * len(first.table)), level * (1 - _SHARES)
    found = _contrasts(first, second, size_level, share_level, 2 * level)
    by_ratio = tuple(tuple(cells) for cells in found)
    return Tests(by_ratio, level, len(first.table), first.size.missing(2 * level))


def _split(one: GroupCounts, other: GroupCounts, level: float) -> tuple[float, float]:
    """Return the level that remains for the counts, and that of each of the four limits of two
    sizes.
    """
    if one.size.kind == other.size.kind == "known":
        return level, level
    return level * (1 - _SIZES), level * _SIZES / 4


def _contrasts(
    first: GroupCounts, second: GroupCounts, size_level: float, share_level: float, delta: float
) -> Iterator[set[Contrast]]:
    """Return the contrasts of all bins for each ratio; return none if no conclusion is possible.

    The fewest people in the first group and the most in the second make every probability
    largest.
    """
    people, others = first.size.limits(size_level), second.size.limits(size_level)
    silent = first.size.tells_nothing(delta) or second.size.tells_nothing(delta)
    if silent or people[0] < 1 or others[0] < 1:
        return
    ours = chernoff.limits(first.table, people, first.rate, share_level)
    theirs = chernoff.limits(second.table, others, second.rate, share_level)
    for ratio in _ratios(first.size, second.size, size_level):
        yield {
            Contrast(
                Count(value, people[0], first.rate),
                Count(other, others[1], second.rate),
                ratio,
                p_first,
                p_second,
            )
            for value, other, p_first, p_second in zip(
                first.table, second.table, ours, theirs, strict=True
            )
        }


def _ratios(first: GroupSizeEstimate, second: GroupSizeEstimate, size_level: float) -> list[float]:
    """Return the weights first : second that a test may need.

    The weights may depend on known sizes and on separately bought sizes, which are independent of
    the bins. A size that the bins measure is a parameter: each possible ratio has its own test.
    Ratios are rounded to powers of 1.15, so there are few.
    """
    if "estimated" not in (first.kind, second.kind):
        return [first.stated / second.stated]
    low, high = first.limits(size_level)
    other_low, other_high = second.limits(size_level)
    start = round(math.log(low / other_high) / _RATIO_STEP)
    stop = round(math.log(high / other_low) / _RATIO_STEP)
    return [math.exp(_RATIO_STEP * k) for k in range(start, stop + 1)]
