"""Measured shares of each bin, with limits, as charts and reports show them.

The limits of a share hold for that share alone; the verdict rests on `gap`, whose limits hold for
all bins at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.stats import chernoff
from auditor_client.stats.group_size import GroupSizeEstimate

# Part of a level for an unknown number of people.
_SIZES = 0.2


@dataclass(frozen=True)
class BinShare:
    """Measured share of one group in one bin (noise may make it negative), with limits."""

    group: str
    bin: int
    share: float
    low: float
    high: float


def measured_shares(groups: Mapping[str, GroupCounts], level: float = 0.05) -> list[BinShare]:
    """Return all shares, each between its limits with probability at least 1 - level."""
    return [
        share
        for name, group in groups.items()
        for share in _shares_of_group(name, group.table, group.size, level / 2)
    ]


def _shares_of_group(
    name: str, counts: tuple[int, ...], size: GroupSizeEstimate, side: float
) -> list[BinShare]:
    low, high = size.limits(side * _SIZES)
    if size.kind != "known":
        side *= 1 - _SIZES
    limits = chernoff.limits(counts, (max(low, 1), max(high, 1)), size.rate, side)
    return [
        BinShare(name, number, count / size.estimate, *limits[number])
        for number, count in enumerate(counts)
    ]


def measured_gaps(found: Sequence[BinShare]) -> list[float]:
    """Return the measured gap of each bin: the largest share of any group less the smallest."""
    by_bin: dict[int, list[float]] = {}
    for share in found:
        by_bin.setdefault(share.bin, []).append(share.share)
    return [max(by_bin[number]) - min(by_bin[number]) for number in sorted(by_bin)]
