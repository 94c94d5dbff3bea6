"""What was measured in each bin, with limits: the numbers that charts and reports show.

The limits of a share hold for that share alone; the verdict rests on `gap`, whose limits hold for
all bins at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from auditor_client.kinds.score_histogram.result import FinishedAudit
from auditor_client.stats import chernoff
from auditor_client.stats.group_size import GroupSize

# Of a level, what goes to the number of people where that is not known.
_SIZES = 0.2


@dataclass(frozen=True)
class Share:
    """The share of one group in one bin, as measured (noise may take it below 0), with limits."""

    group: str
    bin: int
    share: float
    low: float
    high: float


def group_sizes(audit: FinishedAudit) -> dict[str, GroupSize]:
    """What is known of the number of scored people of each group."""
    return {name: group.size for name, group in audit.groups().items()}


def measured_shares(audit: FinishedAudit, level: float = 0.05) -> list[Share]:
    """All shares, each between its limits with probability at least 1 - level."""
    sizes = group_sizes(audit)
    return [
        share
        for name, counts in audit.counts.items()
        for share in _of_group(name, tuple(counts), sizes[name], level / 2)
    ]


def _of_group(name: str, counts: tuple[int, ...], size: GroupSize, side: float) -> list[Share]:
    low, high = size.limits(side * _SIZES)
    if size.kind != "known":
        side *= 1 - _SIZES
    limits = chernoff.limits(counts, (max(low, 1), max(high, 1)), size.rate, side)
    return [
        Share(name, number, count / size.estimate, *limits[number])
        for number, count in enumerate(counts)
    ]


def measured_gaps(found: Sequence[Share]) -> list[float]:
    """The measured gap of each bin: the largest share of any group less the smallest."""
    by_bin: dict[int, list[float]] = {}
    for share in found:
        by_bin.setdefault(share.bin, []).append(share.share)
    return [max(by_bin[number]) - min(by_bin[number]) for number in sorted(by_bin)]
