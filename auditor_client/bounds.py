"""Limits of the fairness gap over all pairs of groups and all bins, from limits for one bin each.

Above (intersection-union): FG is the difference in one bin of one ordered pair. If that one limit
holds, so does the largest of all, hence each is used at the full level. Below (union): all limits
must hold at once, hence the level is shared, by a rule that lets bins with more people have more of
it: a pair of shares is tested at level·(θ·p + (1 - θ)/bins), p the smaller share, and these add up to
at most the level because shares do to at most one. The proof is in docs/intervals.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import combinations, permutations

import numpy as np

from auditor_client import shares
from auditor_client.limits import (
    Contrast,
    Level,
    surely_rejects,
    upper_limit,
    worst,
)
from auditor_client.noise import Floats
from auditor_client.sizes import GroupSize
from auditor_client.tails import Count

# Parts of a level: for the sizes, where they are not known; for the plausible shares.
_SIZES = 0.2
_SHARES = 0.02
# Of the rest, below: for claims of the right sign, and for claims of the wrong sign.
_RIGHT, _WRONG = 0.8, 0.1
_THETA = 0.8
# How many bins are tried for the lower limit. More could only raise it.
_TRIED = 3
_RATIO_STEP = math.log(1.15)


@dataclass(frozen=True, slots=True)
class Group:
    """One group's noisy counts, their noise, and what is known of its size."""

    table: tuple[int, ...]
    size: GroupSize
    rate: float


def above(groups: Sequence[Group], delta: float, floor: float = 0.0) -> float:
    """An upper limit of FG, missed with probability at most delta/2; `floor` where it is lower."""
    limit = floor
    for more, less in permutations(groups, 2):
        limit = max(limit, _above(more, less, delta / 2, delta, limit))
    return limit


def below(groups: Sequence[Group], delta: float) -> float:
    """A lower limit of FG, missed with probability at most delta/2."""
    pairs = list(combinations(groups, 2))
    level = delta / 2 / len(pairs)
    ordered = [pair for one, other in pairs for pair in ((one, other), (other, one))]
    return max(_below(more, less, level, delta) for more, less in ordered)


def _above(more: Group, less: Group, level: float, delta: float, floor: float) -> float:
    """Upper limit of p_more - p_less over all bins, not below `floor`."""
    level, size_level = _split(more, less, level, events=2)
    if _in_the_dark(more, less, size_level, delta):
        return 1.0
    share_level, level = level * _SHARES / 4, level * (1 - _SHARES)
    missing = more.size.missing(delta)
    limit = max(floor - missing, 0.0)
    for ratio in _ratios(more, less, size_level):
        cells = _contrasts(more, less, ratio, size_level, share_level)
        for cell in sorted(cells, key=lambda cell: -cell.approximate(level)):
            if limit + missing < 1 and not surely_rejects(cell, limit, level):
                limit = upper_limit(cell, _constant(level), limit, 1.0)
    return min(limit + missing, 1.0)


def _below(more: Group, less: Group, level: float, delta: float) -> float:
    """Lower limit of p_more - p_less over all bins, at least zero."""
    level, size_level = _split(more, less, level, events=4)
    if _in_the_dark(more, less, size_level, delta):
        return 0.0
    bins = len(more.table)
    share_level, level = level * _SHARES / (4 * bins), level * (1 - _SHARES)
    limit = 1.0
    for ratio in _ratios(less, more, size_level):
        # A lower limit of p_more - p_less is minus an upper limit of p_less - p_more.
        cells = _contrasts(less, more, ratio, size_level, share_level)
        tried = nsmallest(_TRIED, cells, key=lambda cell: cell.approximate(level / bins))
        limit = min(limit, max(_bin_below(cell, level, bins) for cell in tried))
    return max(limit - less.size.missing(delta), 0.0)


def _bin_below(cell: Contrast, level: float, bins: int) -> float:
    # Not worth the work: the normal approximation already finds no gap here.
    if cell.approximate(level / 2) >= 0:
        return 0.0
    if not worst(cell, 0.0, _shared(level * _WRONG, bins)).rejected:
        return 0.0
    return -upper_limit(cell, _shared(level * _RIGHT, bins), max(cell.observed, -1.0), 0.0)


def _constant(level: float) -> Level:
    return lambda p: np.full_like(p, level)


def _shared(level: float, bins: int) -> Level:
    def allowed(p: Floats) -> Floats:
        return np.asarray(level * (_THETA * p + (1 - _THETA) / bins))

    return allowed


def _split(one: Group, other: Group, level: float, events: int) -> tuple[float, float]:
    """The level left for the counts, and that of each of the `events` limits of sizes."""
    if one.size.kind == other.size.kind == "known":
        return level, level
    return level * (1 - _SIZES), level * _SIZES / events


def _in_the_dark(one: Group, other: Group, size_level: float, delta: float) -> bool:
    sizes = (one.size, other.size)
    return any(size.limits(size_level)[0] < 1 or size.tells_nothing(delta) for size in sizes)


def _ratios(first: Group, second: Group, size_level: float) -> list[float]:
    """The weights first : second that a test may need.

    They may depend on what is known and on sizes bought apart, which are independent of the bins.
    A size measured by the bins themselves is a parameter: each possible ratio has its own test,
    rounded to powers of 1.15 so that there are few.
    """
    if "estimated" not in (first.size.kind, second.size.kind):
        return [_stated(first.size) / _stated(second.size)]
    (low, high), (other_low, other_high) = (
        first.size.limits(size_level),
        second.size.limits(size_level),
    )
    start = round(math.log(low / other_high) / _RATIO_STEP)
    stop = round(math.log(high / other_low) / _RATIO_STEP)
    return [math.exp(_RATIO_STEP * k) for k in range(start, stop + 1)]


def _stated(size: GroupSize) -> int:
    return max(size.known if size.known is not None else size.noisy or 1, 1)


def _contrasts(
    first: Group, second: Group, ratio: float, size_level: float, share_level: float
) -> set[Contrast]:
    """The contrasts of all bins. Fewest people first and most second make every bound largest."""
    people, others = first.size.limits(size_level), second.size.limits(size_level)
    ours = shares.limits(first.table, people, first.rate, share_level)
    theirs = shares.limits(second.table, others, second.rate, share_level)
    cells = zip(first.table, second.table, ours, theirs, strict=True)
    return {
        Contrast(
            Count(value, people[0], first.rate), Count(other, others[1], second.rate), ratio, p, q
        )
        for value, other, p, q in cells
    }
