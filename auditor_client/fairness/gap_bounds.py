"""Limits of the fairness gap over all pairs of groups and all bins, from tests of one bin each.

Upper limit (intersection-union): FG is the difference in one bin of one ordered pair. If that one
limit holds, so does the largest of all, so each is used at the full level. Lower limit (union): all
limits must hold at once, so the level is shared. Bins with more people get a larger part: shares
are tested at level·(θ·p + (1 - θ)/bins), where p is the smaller share. These add up to at most the
level, because the shares of a group add up to one. The proof is in docs/explanation/intervals.md.
"""

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from auditor_client.fairness.bin_tests import GroupCounts, Tests, tests_above, tests_below
from auditor_client.stats.difference_test import (
    Contrast,
    Level,
    constant,
    least_favourable,
    rejects_by_chernoff,
)
from auditor_client.stats.noise import Floats
from auditor_client.stats.upper_limit import contrast_upper_limit

# Parts of the lower limit's level: for claims of the right sign, and for claims of the wrong sign.
_RIGHT, _WRONG = 0.8, 0.1
_THETA = 0.8


def one_sided_delta(delta: float) -> float:
    """Return the delta of an interval whose limits, each taken alone, miss with probability at most
    `delta`.
    """
    # Levels are probabilities, so from one half on nothing is doubled.
    return 2 * delta if delta < 0.5 else delta


def upper_limit(groups: Sequence[GroupCounts], delta: float, floor: float = 0.0) -> float:
    """Return an upper limit of FG, missed with probability at most delta/2; not searched below
    `floor`.
    """
    found = [tests_above(more, less, delta) for more, less in permutations(groups, 2)]
    return highest_limit(found, floor)


def highest_limit(found: Sequence[Tests], floor: float = 0.0) -> float:
    """Return a limit, at most one, of all differences that these tests cover.

    The largest difference exceeds it with at most the level of its own test.
    """
    if not all(tests.by_ratio for tests in found):
        return 1.0
    limit = floor
    for tests, cell in sorted(_flat(found), key=_hardest_first):
        # All people who are in no bin could be in this one.
        rest = max(limit - tests.missing, 0.0)
        if limit < 1 and not rejects_by_chernoff(cell, rest, tests.level):
            limit = contrast_upper_limit(cell, constant(tests.level), rest, 1.0) + tests.missing
        limit = max(limit, tests.missing)
    return min(limit, 1.0)


def lower_limit(groups: Sequence[GroupCounts], delta: float) -> float:
    """Return a lower limit of FG, missed with probability at most delta/2."""
    return max(_below(tests) for tests in _all_below(groups, delta))


def certify_within(groups: Sequence[GroupCounts], delta: float, alpha: float) -> bool:
    """Tell whether `upper_limit` is at most alpha, without searching for it."""
    return all(
        reject_beyond(tests_above(more, less, delta), alpha)
        for more, less in permutations(groups, 2)
    )


def certify_beyond(groups: Sequence[GroupCounts], delta: float, alpha: float) -> bool:
    """Tell whether `lower_limit` is more than alpha, without searching for it."""
    return any(_exceeds(tests, alpha) for tests in _all_below(groups, delta))


def _all_below(groups: Sequence[GroupCounts], delta: float) -> list[Tests]:
    pairs = len(groups) * (len(groups) - 1) // 2
    return [tests_below(more, less, delta, pairs) for more, less in permutations(groups, 2)]


def _flat(found: Sequence[Tests]) -> list[tuple[Tests, Contrast]]:
    return [(tests, cell) for tests in found for cells in tests.by_ratio for cell in cells]


def _hardest_first(item: tuple[Tests, Contrast]) -> tuple[float, ...]:
    tests, cell = item
    guess = cell.approximate(tests.level) + tests.missing
    # The other keys make the order, and so the limit, independent of the order of groups.
    return -guess, cell.first.value, cell.second.value, cell.ratio


def reject_beyond(tests: Tests, alpha: float) -> bool:
    """Tell whether these tests reject every difference of alpha or more."""
    limit = alpha - tests.missing
    if not tests.by_ratio or limit < 0:
        return alpha >= 1
    return all(
        rejects_by_chernoff(cell, limit, tests.level)
        or least_favourable(cell, limit, constant(tests.level)).rejected
        for cells in tests.by_ratio
        for cell in cells
    )


def _below(tests: Tests) -> float:
    limit = 1.0 if tests.by_ratio else 0.0
    for cells in tests.by_ratio:
        limit = max(_bin_below(cell, tests, limit) for cell in cells)
    return max(limit - tests.missing, 0.0)


def _bin_below(cell: Contrast, tests: Tests, most: float) -> float:
    """Return the lower limit from one bin, or `most` if the limit reaches it."""
    if most <= 0 or not _positive(cell, tests):
        return 0.0
    level = split_level(tests.level * _RIGHT, tests.bins)
    if most < 1 and least_favourable(cell, -most, level).rejected:
        return most
    return -contrast_upper_limit(cell, level, max(cell.observed, -1.0), 0.0)


def _exceeds(tests: Tests, alpha: float) -> bool:
    limit = min(alpha + tests.missing, 1.0)
    level = split_level(tests.level * _RIGHT, tests.bins)
    return bool(tests.by_ratio) and all(
        any(
            _positive(cell, tests) and least_favourable(cell, -limit, level).rejected
            for cell in cells
        )
        for cells in tests.by_ratio
    )


def _positive(cell: Contrast, tests: Tests) -> bool:
    """Tell whether this bin shows a gap of the claimed sign at all."""
    # Skip the search if the normal approximation already finds no gap.
    if cell.approximate(tests.level / 2) >= 0:
        return False
    return least_favourable(cell, 0.0, split_level(tests.level * _WRONG, tests.bins)).rejected


def split_level(level: float, bins: int) -> Level:
    """Return a level for every bin, given its share: over all bins the levels add up to `level`."""

    def allowed(p: Floats) -> Floats:
        return np.asarray(level * (_THETA * p + (1 - _THETA) / bins))

    return allowed
