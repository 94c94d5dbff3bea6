"""Drivers of a gap: every pair of groups and bin, with limits that hold at once.

The level is shared by pairs equally, by the two directions equally, and by bins as in `gap_bounds`:
a bin gets more if the first group has more people there, and the shares of a group add up to one.
The proof is in docs/explanation/intervals.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from auditor_client.fairness.bin_tests import GroupCounts, tests_each
from auditor_client.fairness.gap import FairnessGap, check_delta, gap_of
from auditor_client.fairness.gap_bounds import split_level
from auditor_client.stats.upper_limit import contrast_upper_limit


@dataclass(frozen=True, slots=True)
class Driver:
    """Difference of two groups' shares in one bin, the first minus the second, with limits.

    `low` and `high` hold for all pairs and all bins at once with probability 1 - delta.
    """

    groups: tuple[str, str]
    bin: int
    difference: float
    low: float
    high: float
    delta: float

    @property
    def least(self) -> float:
        """The gap that this bin certainly shows; 0 if its sign is open."""
        return max(self.low, -self.high, 0.0)


def drivers(
    groups: Mapping[str, GroupCounts], delta: float, most: int | None = None
) -> list[Driver]:
    """Return every pair and bin, with the clearest gaps first.

    With `most`, return that number of bins for each pair, those with the largest measured
    differences. Their limits are the same. The others, which take most of the time, are not
    computed.
    """
    check_delta(delta)
    pairs = list(combinations(groups, 2))
    found = [
        driver
        for first, second in pairs
        for driver in _of_pair(first, second, groups, delta / len(pairs), delta, most)
    ]
    return sorted(found, key=lambda driver: (-driver.least, -abs(driver.difference)))


def pair_gaps(groups: Mapping[str, GroupCounts], delta: float) -> list[FairnessGap]:
    """Return the gap of each pair of groups; all intervals hold at once with probability 1 -
    delta.
    """
    pairs = list(combinations(groups, 2))
    share = delta / max(len(pairs), 1)
    return [gap_of({name: groups[name] for name in pair}, share, "bins") for pair in pairs]


def _of_pair(
    first: str,
    second: str,
    groups: Mapping[str, GroupCounts],
    share: float,
    delta: float,
    most: int | None,
) -> list[Driver]:
    one, other = groups[first], groups[second]
    apart = [
        count / one.size.estimate - another / other.size.estimate
        for count, another in zip(one.table, other.table, strict=True)
    ]
    bins = sorted(range(len(apart)), key=lambda number: -abs(apart[number]))[:most]
    highs = _limits(one, other, share / 2, bins)
    lows = _limits(other, one, share / 2, bins)
    return [
        Driver((first, second), number, apart[number], -lows[number], highs[number], delta)
        for number in bins
    ]


def _limits(
    first: GroupCounts, second: GroupCounts, level: float, bins: Sequence[int]
) -> dict[int, float]:
    """Return upper limits of p_first - p_second in these bins; all bins' limits hold at once except
    with probability `level`.
    """
    tests = tests_each(first, second, level)
    counts_of = {number: (first.table[number], second.table[number]) for number in bins}
    if not tests.by_ratio:
        return dict.fromkeys(bins, 1.0)
    allowed, wanted = split_level(tests.level, tests.bins), set(counts_of.values())
    found: dict[tuple[int, int], float] = {}
    for cells in tests.by_ratio:
        for cell in cells:
            counts = cell.first.value, cell.second.value
            if counts in wanted:
                limit = contrast_upper_limit(cell, allowed, -1.0, 1.0)
                found[counts] = max(found.get(counts, -1.0), limit)
    return {number: min(found[counts] + tests.missing, 1.0) for number, counts in counts_of.items()}
