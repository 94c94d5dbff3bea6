"""Canaries: volunteers who show whether a platform treats audits specially.

`field_check` compares the deliveries that canaries saw with the scores that the audit of the same
content released. `presence_check` counts canaries who were mixed into an audience and certainly
have an account. A platform that silently drops people scores too few of them.

`canary_plan` proposes edges, people and canaries. The protocol and the proofs are in
docs/how-to/researchers/check-for-canaries.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Literal

from auditor_client.consistency.canary_counts import CanaryTest
from auditor_client.consistency.delivery_rules import GroupScores, delivery_region, scores_of
from auditor_client.errors import InputError
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.stats import noise
from auditor_client.stats.group_size import PARTS

Shown = tuple[int, int]
Audit = ScoreHistogramResult | str | Path
FieldVerdict = Literal["irreconcilable", "consistent", "inconclusive"]
# Share of a level for the band of the scores; canaries have the rest.
BAND = 0.5
ASSUMPTION = (
    "Assumed: delivery depends on the score alone, and a higher score never makes it less likely."
)


@dataclass(frozen=True, slots=True)
class FieldCheck:
    """Delivery rates of two groups compared with their scores; `groups[0]` was shown the content
    more.

    `most` is the largest rate of the first group that any rule of scores allows at the rate of the
    second. `p_value` bounds the probability of such counts; at most `level` is an alarm. Rates
    below `lowest_rate` cannot be checked: the top bin alone has that share of people.
    """

    groups: tuple[str, str]
    rates: tuple[float, float]
    most: float
    p_value: float
    level: float
    lowest_rate: float
    checkable: bool
    false_alarm: float

    @property
    def verdict(self) -> FieldVerdict:
        if self.p_value <= self.level:
            return "irreconcilable"
        return "consistent" if self.checkable else "inconclusive"

    def explain(self) -> str:
        """Return the verdict in plain sentences."""
        more, less = self.groups
        found = (
            f"{self.rates[0]:.2%} of the canaries of {more} were shown the content and"
            f" {self.rates[1]:.2%} of {less}."
        )
        words = {
            "irreconcilable"
            "": "Irreconcilable: at the rate of the second group, a delivery by these scores "
            f"reaches at most {self.most:.2%} of the first (p = {self.p_value:.2g}). An "
            f"honest platform gets this verdict in at most {self.false_alarm:.2%} of "
            "checks.",
            "consistent"
            "": "Consistent: a rule based on these scores can deliver in this way. This does "
            "not prove that the platform uses such a rule.",
            "inconclusive"
            "": "Inconclusive: even if no canary of one group had been shown the content, "
            "these numbers would be too small to show it. Rates below "
            f"{self.lowest_rate:.2%} cannot be checked with the bins of this audit; see "
            "`canary_plan`.",
        }[self.verdict]
        return f"{found} {words} {ASSUMPTION}"


@dataclass(frozen=True, slots=True)
class PresenceCheck:
    """Groups of canaries who certainly have an account, and the number that the audit scored."""

    group: str
    canaries: int
    counted: float
    p_value: float
    false_alarm: float

    @property
    def verdict(self) -> Literal["irreconcilable", "consistent"]:
        return "irreconcilable" if self.p_value <= self.false_alarm else "consistent"

    def explain(self) -> str:
        """Return the verdict in plain sentences."""
        counted = f"Of {self.canaries} canaries in {self.group}, {self.counted:.0f} were scored"
        if self.verdict == "consistent":
            return f"{counted}, noise included: noise explains the difference."
        return (
            f"{counted}: noise alone makes the number this small with a probability of at "
            f"most {self.p_value:.2g}. An honest platform gets this verdict in at most "
            f"{self.false_alarm:.2%} of checks. People who reached their lifetime cap are "
            "also not scored. Rule that out first."
        )


def field_check(audit: Audit, shown: Mapping[str, Shown], false_alarm: float = 0.01) -> FieldCheck:
    """Compare the canaries of each group (the number shown the content, the number of all) with the
    audit.

    `audit` is a finished audit or the file of its receipt. Raise InputError if a group is not in
    the audit, or a number is impossible.
    """
    return check_counts(scores_of(_read(audit)), shown, false_alarm)


def check_counts(
    groups: Mapping[str, GroupScores], shown: Mapping[str, Shown], false_alarm: float
) -> FieldCheck:
    """Return the same check, from given counts of scores."""
    _check_level(false_alarm)
    if shown.keys() - groups.keys() or len(shown) < 2:
        raise InputError(
            f"Give canaries for two or more groups of the audit: {', '.join(groups)}.",
            case="groups-of-canaries",
        )
    if any(not 0 <= seen <= canaries or canaries < 1 for seen, canaries in shown.values()):
        raise InputError(
            "For each group, the number of canaries shown the content is between 0 and "
            "all of them.",
            case="counts-of-canaries",
        )
    pairs = list(permutations(shown, 2))
    level = false_alarm / len(pairs)
    found = [
        _compare(groups[more], groups[less], shown[more], shown[less], level)
        for more, less in pairs
    ]
    # The power of a check is that of its clearer direction: all deliveries may have gone to either
    # group.
    best = min(found, key=lambda one: one.p_value)
    checkable = any(one.checkable for one in found)
    return FieldCheck(
        best.groups, best.rates, best.most, best.p_value, best.level,
        min(one.lowest_rate for one in found), checkable, false_alarm,
    )  # fmt: skip


def presence_check(
    audit: Audit, canaries: Mapping[str, int], false_alarm: float = 0.01
) -> list[PresenceCheck]:
    """Compare the number of scored people with the canaries of each group, who certainly exist.

    Every canary of a group counts as one person with an account; the group may have other people
    too. All groups share the false-alarm probability.
    """
    _check_level(false_alarm)
    groups = _read(audit).scored_groups()
    if not canaries or canaries.keys() - groups.keys() or min(canaries.values()) < 1:
        raise InputError(
            f"Give the number of canaries in groups of the audit: {', '.join(groups)}.",
            case="groups-of-canaries",
        )
    found = []
    for name, number in canaries.items():
        size = groups[name].size
        if size.kind == "known":
            found.append(PresenceCheck(name, number, size.stated, 1.0, false_alarm))
            continue
        # The estimate is the number of people plus noise of a known distribution.
        p_value = _probability_of_missing(size.terms, size.estimate, number)
        share = min(p_value * len(canaries), 1.0)
        found.append(PresenceCheck(name, number, size.estimate, share, false_alarm))
    return found


def _probability_of_missing(terms: tuple[noise.Term, ...], estimate: float, canaries: int) -> float:
    """Return an upper bound of the probability that noise alone hides this number of canaries."""
    short = round(PARTS * (canaries - estimate))
    if short <= 0:
        return 1.0
    # The smallest level at which the noise does not explain the missing canaries.
    low, high = 1e-12, 0.5
    if noise.sum_quantile(terms, high) > short:
        return 1.0
    for _ in range(40):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if noise.sum_quantile(terms, middle) <= short else (middle, high)
    return high


def _compare(
    more: GroupScores, less: GroupScores, seen: Shown, other: Shown, level: float
) -> FieldCheck:
    """Check whether a rule of scores can explain the delivery rates of both groups."""
    allowed = delivery_region(more, less, BAND * level)
    test = CanaryTest(allowed, seen[1], other[1])
    own = (1 - BAND) * level
    p_value = test.p_value(seen[0], other[0])
    rates = seen[0] / seen[1], other[0] / other[1]
    return FieldCheck(
        (more.name, less.name), rates, float(allowed.most(rates[1])), p_value, own,
        allowed.lowest_rate, _could_tell(test, seen, other, own, p_value), level,
    )  # fmt: skip


def _could_tell(test: CanaryTest, seen: Shown, other: Shown, level: float, found: float) -> bool:
    """Tell whether the check would alarm if all deliveries had gone to one of the groups."""
    most = max(seen[0] / seen[1], other[0] / other[1])
    return found <= level or test.rejects(round(most * seen[1]), 0, level)


def _read(audit: Audit) -> ScoreHistogramResult:
    if isinstance(audit, ScoreHistogramResult):
        return audit
    return ScoreHistogramResult.from_receipt(audit)


def _check_level(false_alarm: float) -> None:
    if not 0 < false_alarm < 1:
        raise InputError(
            f"false_alarm must lie between 0 and 1, not {false_alarm}.", case="false-alarm"
        )
