"""The paper's decision rules by name, each with its true probability of error.

docs/explanation/two-party-metrics.md compares every rule of the paper with the one here.

A verdict `unfair` uses limits that hold for all comparisons at once (Bonferroni). A verdict `fair`
uses every comparison's own limits: if some true difference exceeded τ, its own interval would have
to miss it. Each verdict is wrong with probability at most delta.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Literal

import numpy as np

from auditor_client.demographics.probability_columns import Probabilities
from auditor_client.errors import InputError
from auditor_client.two_party.auc import aucs
from auditor_client.two_party.impact import largest_gap, total_impact
from auditor_client.two_party.metrics import rank_gaps
from auditor_client.two_party.noisy_sums import SoftGroupSums
from auditor_client.two_party.ratios import Average, GroupDifference, Ratios, difference

Verdict = Literal["fair", "unfair", "inconclusive"]


@dataclass(frozen=True)
class Decision:
    """Verdict of a rule at the tolerance τ.

    `exceeded` is the rule as printed, on estimates alone. `worst` is the largest comparison, and
    `at_least` the lower limit of the largest true difference (0 if it may be zero). `one_sided`
    comparisons average over the neighbour's group and have no verdict.
    """

    rule: str
    tolerance: float
    exceeded: bool
    verdict: Verdict
    worst: GroupDifference
    at_least: float
    delta: float
    one_sided: bool = False

    def explain(self) -> str:
        """Return the decision in words."""
        more, less = self.worst.first, self.worst.second
        found = (
            f"{self.rule}: {more} is {self.worst.value:.4f} above {less}, between"
            f" {self.worst.low:.4f} and {self.worst.high:.4f} with confidence {1 - self.delta:.0%}."
        )
        if self.one_sided:
            known = _ONE_SIDED_BELOW.format(self.at_least) if self.at_least > 0 else ""
            return f"{found} {_ONE_SIDED}{known}"
        return f"{found} {_WORDS[self.verdict].format(self.tolerance)}"


_ONE_SIDED = (
    "No verdict: one side averages over the groups of the neighbour. There, gains of a "
    "group from one group and losses to another cancel. The LOT of a pair of groups may "
    "still be below zero."
)
_ONE_SIDED_BELOW = " The LOT of some pair of groups is certainly at most -{:.4f}."
_WORDS = {
    "fair": "Every difference is certainly at most {:g}: fair.",
    "unfair": "Some difference is certainly larger than {:g}: unfair.",
    "inconclusive": "This audit cannot tell whether some difference is larger than {:g}.",
}


def spread_beyond(
    found: Ratios, tolerance: float, delta: float = 0.05, rule: str = "ERO"
) -> Decision:
    """Decide ERO: whether the largest of all groups' averages exceeds the smallest by more than
    τ.
    """
    pairs = [
        pair for a, b in combinations(range(len(found.groups)), 2) for pair in ((a, b), (b, a))
    ]
    averages, sure = _levels(found, delta, len(pairs) // 2)
    own = [difference(averages[a], averages[b], found, delta) for a, b in pairs]
    all_at_once = [difference(sure[a], sure[b], found, delta / (len(pairs) // 2)) for a, b in pairs]
    return _decided(rule, own, all_at_once, tolerance, delta)


def service_below(found: Ratios, tolerance: float, delta: float = 0.05) -> Decision:
    """Decide MQOS: whether some group's average is more than τ below the overall one."""
    averages, sure = _levels(found, delta, len(found.groups))
    overall = found.together
    level = delta / len(found.groups)
    whole, surely = overall.average(0, delta), overall.average(0, level)
    own = [difference(whole, each, found, delta) for each in averages]
    all_at_once = [difference(surely, each, found, level) for each in sure]
    return _decided("MQOS", own, all_at_once, tolerance, delta)


def auc_below(sums: SoftGroupSums, tolerance: float, delta: float = 0.05) -> Decision:
    """Decide MQOS-AUC: whether some group's AUC is more than τ below the overall one (eq. 13).

    The dependence of a group's error and everybody's is unknown, so both may add up.
    """
    level = delta / len(sums.groups)
    own, all_at_once = (_less_than_overall(aucs(sums, each)) for each in (delta, level))
    return _decided("MQOS-AUC", own, all_at_once, tolerance, delta)


def misranked(sums: SoftGroupSums, tolerance: float = 0.0, delta: float = 0.05) -> Decision:
    """Decide LOT: whether, at some rank, the lower of two neighbours is worth more than the upper
    by more than τ.

    The input is the gaps of one side (`rank_gaps`), for every rank and group on it. They are
    averages of the LOT of pairs of groups, in which opposite signs cancel: there are limits, but no
    verdict.
    """
    ranks = range(len(sums.layout.cells) // 2)
    level = delta / (len(ranks) * len(sums.groups))
    own, all_at_once = (
        [
            _lower_less_upper(rank, each)
            for rank in ranks
            for each in rank_gaps(sums, rank).averages(d)
        ]
        for d in (delta, level)
    )
    found = _decided("LOT", own, all_at_once, tolerance, delta)
    return replace(found, verdict="inconclusive", one_sided=True)


def impact_beyond(sums: SoftGroupSums, tolerance: float, delta: float = 0.05) -> Decision:
    """Decide POT: whether outcomes of some group, at equal scores, exceed another's by more than τ
    in total.
    """
    pairs = list(permutations(sums.groups, 2))
    level = 2 * delta / max(len(pairs), 1)
    own, all_at_once = (
        [total_impact(sums, a, b, delta=d) for a, b in pairs] for d in (delta, level)
    )
    return _decided("POT", own, all_at_once, tolerance, delta)


def gap_beyond(sums: SoftGroupSums, tolerance: float, delta: float = 0.05) -> Decision:
    """Decide the gap of [IKH23]: whether two groups' shares in some bin differ by more than τ."""
    found = [largest_gap(sums, delta)]
    return _decided("gap", found, found, tolerance, delta)


def _lower_less_upper(rank: int, gap: Average) -> GroupDifference:
    lower, upper = f"{gap.group} or their neighbour at rank {rank + 2}", f"rank {rank + 1}"
    return GroupDifference(lower, upper, -gap.value, -gap.high, -gap.low)


def _less_than_overall(found: Sequence[Average]) -> list[GroupDifference]:
    *groups, overall = found
    return [
        GroupDifference(
            overall.group,
            each.group,
            overall.value - each.value,
            overall.low - each.high,
            overall.high - each.low,
        )
        for each in groups
    ]


def too_few(weights: Probabilities, least: float) -> tuple[str, ...]:
    """Return the groups of an upload with fewer people than the minimum, by the sum of their
    weights.
    """
    totals = np.asarray(weights).sum(axis=0)
    return tuple(name for name, total in zip(weights.columns, totals, strict=True) if total < least)


def _levels(found: Ratios, delta: float, comparisons: int) -> tuple[list[Average], list[Average]]:
    """Return averages with their own limits, and with limits that hold for all comparisons."""
    if comparisons < 1:
        raise InputError("A comparison needs two groups at least.", case="few-groups")
    return found.averages(delta), found.averages(delta / comparisons)


def _decided(
    rule: str,
    own: Sequence[GroupDifference],
    all_at_once: Sequence[GroupDifference],
    tolerance: float,
    delta: float,
) -> Decision:
    if not tolerance >= 0:
        raise InputError(
            f"tolerance must not be negative, but it is {tolerance}.", case="negative-tolerance"
        )
    if not own:
        raise InputError("A comparison needs two groups at least.")
    worst = max(own, key=lambda each: each.value if math.isfinite(each.value) else -math.inf)
    at_least = max(0.0, *(each.low for each in all_at_once))
    verdict: Verdict = "inconclusive"
    if at_least > tolerance:
        verdict = "unfair"
    elif all(each.high <= tolerance for each in own):
        verdict = "fair"
    return Decision(rule, tolerance, worst.value > tolerance, verdict, worst, at_least, delta)
