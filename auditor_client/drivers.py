"""Which groups and which scores drive a gap: every pair and bin, with limits that hold at once.

The level is shared by pairs equally, by the two directions equally, and by bins as in `bounds`: a
bin is given more where the first group has more people, and the shares of a group add up to one.
The proof is in docs/intervals.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from auditor_client.bounds import shared
from auditor_client.contrasts import Group, tests_each
from auditor_client.gap import FairnessGap, check_delta, gap_of
from auditor_client.limits import upper_limit


@dataclass(frozen=True, slots=True)
class Driver:
    """The difference of two groups' shares in one bin, the first less the second, with limits.

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
        """The gap that this bin shows for certain: 0 where its sign is open."""
        return max(self.low, -self.high, 0.0)


def drivers(groups: Mapping[str, Group], delta: float) -> list[Driver]:
    """Every pair and bin, those that show most first."""
    check_delta(delta)
    pairs = list(combinations(groups, 2))
    found = [
        driver
        for first, second in pairs
        for driver in _of_pair(first, second, groups, delta, len(pairs))
    ]
    return sorted(found, key=lambda driver: (-driver.least, -abs(driver.difference)))


def pair_gaps(groups: Mapping[str, Group], delta: float) -> list[FairnessGap]:
    """The gap of each pair of groups; all intervals hold at once with probability 1 - delta."""
    pairs = list(combinations(groups, 2))
    share = delta / max(len(pairs), 1)
    return [gap_of({name: groups[name] for name in pair}, share) for pair in pairs]


def _of_pair(
    first: str, second: str, groups: Mapping[str, Group], delta: float, pairs: int
) -> list[Driver]:
    one, other = groups[first], groups[second]
    highs = _limits(one, other, delta / pairs / 2)
    lows = _limits(other, one, delta / pairs / 2)
    return [
        Driver(
            (first, second),
            number,
            one.table[number] / one.size.estimate - other.table[number] / other.size.estimate,
            -lows[number],
            highs[number],
            delta,
        )
        for number in range(len(one.table))
    ]


def _limits(first: Group, second: Group, level: float) -> list[float]:
    """Upper limits of p_first - p_second in all bins, which all hold but for `level`."""
    tests = tests_each(first, second, level)
    if not tests.by_ratio:
        return [1.0] * len(first.table)
    allowed = shared(tests.level, tests.bins)
    found: dict[tuple[int, int], float] = {}
    for cells in tests.by_ratio:
        for cell in cells:
            counts = cell.first.value, cell.second.value
            limit = upper_limit(cell, allowed, -1.0, 1.0)
            found[counts] = max(found.get(counts, -1.0), limit)
    counts_of = zip(first.table, second.table, strict=True)
    return [min(found[counts] + tests.missing, 1.0) for counts in counts_of]
