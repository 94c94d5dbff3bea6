"""Canaries: a check in the field whether a platform treats audits specially.

`field_check` sets what canaries (volunteers who note whether they were shown a content) saw against
what the audit of the same content says. If delivery depends on the score alone, and a higher score
never hurts, then P(shown | a) - P(shown | b) is at most the largest difference, over thresholds, of
the shares above it: what the field shows for certain cannot exceed what the audit leaves possible.

`canary_power` says how often that finds what is there;
docs/how-to/researchers/check-for-canaries.md has the protocol.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from auditor_client.errors import InputError
from auditor_client.fairness.bin_tests import GroupCounts, tests_above
from auditor_client.fairness.gap_bounds import highest
from auditor_client.fairness.metrics.event_shares import difference_above
from auditor_client.fairness.metrics.group_view import GroupView
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import NoNoise


@dataclass(frozen=True, slots=True)
class FieldCheck:
    """What the field shows at least, what the audit allows at most, for the pair most apart."""

    groups: tuple[str, str]
    field_low: float
    audit_high: float
    false_alarm: float

    @property
    def verdict(self) -> Literal["irreconcilable", "consistent"]:
        return "irreconcilable" if self.field_low > self.audit_high else "consistent"


def field_check(
    audit: ScoreHistogramResult, shown: Mapping[str, tuple[int, int]], false_alarm: float = 0.01
) -> FieldCheck:
    """Set canaries, by name of group (how many were shown it, of how many), against the audit."""
    views = {view.name: view for view in audit.group_views()}
    if shown.keys() - views.keys() or len(shown) < 2:
        raise InputError("Give canaries for two or more groups of the audit, by their names.")
    if any(not 0 <= seen <= canaries or canaries < 1 for seen, canaries in shown.values()):
        raise InputError("Of the canaries of each group, between none and all were shown it.")
    pairs = list(permutations(shown, 2))
    found = [
        compare(views[more], views[less], shown[more], shown[less], false_alarm / len(pairs))
        for more, less in pairs
    ]
    best = max(range(len(pairs)), key=lambda i: found[i][0] - found[i][1])
    return FieldCheck(pairs[best], *found[best], false_alarm)


def compare(
    more: GroupView, less: GroupView, seen: tuple[int, int], other: tuple[int, int], level: float
) -> tuple[float, float]:
    """A lower limit from the field and an upper one from the audit; either fails in level/2."""
    field = -difference_above(_canaries(*other), _canaries(*seen), level / 2)
    # A threshold may lie inside of a bin: all of it counts for one group, none for the other.
    tests = [tests_above(more.upper(k), less.upper(k + 1), level) for k in range(more.bins)]
    return field, highest(tests)


def _canaries(seen: int, canaries: int) -> GroupCounts:
    return GroupCounts(
        (seen,), GroupSizeEstimate(canaries, 1, NoNoise(), known=canaries), NoNoise()
    )
