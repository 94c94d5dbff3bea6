"""Canaries: volunteers by whom a platform is checked that may treat audits specially.

`field_check` sets the deliveries that canaries saw against the scores that the audit of the same
content released. `presence_check` counts canaries who were mixed into an audience and surely have
an account: a platform that drops people in silence has too few of them.

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
# Of a level, the part for the band of the scores; canaries have the rest.
BAND = 0.5
ASSUMPTION = (
    "Assumed: delivery depends on the score alone, and a higher score never makes it less likely."
)


@dataclass(frozen=True, slots=True)
class FieldCheck:
    """Delivery rates of two groups, `groups[0]` the one shown more, against their scores.

    `most` is the largest rate of the first group that any rule of scores allows at the rate of the
    second. `p_value` bounds the probability of such counts, `level` is where it is an alarm. Rates
    below `lowest_rate` cannot be checked: the top bin alone has as many people.
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
        """Explain the verdict in plain sentences."""
        more, less = self.groups
        found = (
            f"{self.rates[0]:.2%} of the canaries of {more} were shown the content and"
            f" {self.rates[1]:.2%} of {less}."
        )
        words = {
            "irreconcilable": "Irreconcilable: at the rate of the second group, a delivery by these"
            f" scores reaches at most {self.most:.2%} of the first (p = {self.p_value:.2g}). An"
            f" honest platform is called so in at most {self.false_alarm:.2%} of checks.",
            "consistent": "Consistent: some rule by these scores delivers like that. That is no"
            " proof that the platform does.",
            "inconclusive": "Inconclusive: even if no canary of one group had been shown the"
            " content, these numbers could not have told. Rates below"
            f" {self.lowest_rate:.2%} cannot be checked with the bins of this audit; see"
            " `canary_plan`.",
        }[self.verdict]
        return f"{found} {words} {ASSUMPTION}"


@dataclass(frozen=True, slots=True)
class PresenceCheck:
    """Groups of canaries that surely have an account, and how many of them the audit scored."""

    group: str
    canaries: int
    counted: float
    p_value: float
    false_alarm: float

    @property
    def verdict(self) -> Literal["irreconcilable", "consistent"]:
        return "irreconcilable" if self.p_value <= self.false_alarm else "consistent"

    def explain(self) -> str:
        """Explain the verdict in plain sentences."""
        counted = f"Of {self.canaries} canaries in {self.group}, {self.counted:.0f} were scored"
        if self.verdict == "consistent":
            return f"{counted}, noise included: noise explains the difference."
        return (
            f"{counted}: noise explains so few with a probability of at most {self.p_value:.2g}. An"
            f" honest platform is called so in at most {self.false_alarm:.2%} of checks. People who"
            " reached their lifetime cap are not scored either: rule that out first."
        )


def field_check(audit: Audit, shown: Mapping[str, Shown], false_alarm: float = 0.01) -> FieldCheck:
    """Set canaries, by name of group (how many were shown it, of how many), against the audit.

    `audit` is a finished audit or the file of its receipt. Raise InputError if the groups are none
    of the audit's, or the numbers make no sense.
    """
    return check_counts(scores_of(_read(audit)), shown, false_alarm)


def check_counts(
    groups: Mapping[str, GroupScores], shown: Mapping[str, Shown], false_alarm: float
) -> FieldCheck:
    """Run the same check on given counts of scores."""
    _check_level(false_alarm)
    if shown.keys() - groups.keys() or len(shown) < 2:
        raise InputError(
            f"Give canaries for two or more groups of the audit: {', '.join(groups)}.",
            case="groups-of-canaries",
        )
    if any(not 0 <= seen <= canaries or canaries < 1 for seen, canaries in shown.values()):
        raise InputError(
            "Of the canaries of each group, between none and all were shown it.",
            case="counts-of-canaries",
        )
    pairs = list(permutations(shown, 2))
    level = false_alarm / len(pairs)
    found = [
        _compare(groups[more], groups[less], shown[more], shown[less], level)
        for more, less in pairs
    ]
    # A check is as good as its clearer direction: all deliveries may have gone to either group.
    best = min(found, key=lambda one: one.p_value)
    checkable = any(one.checkable for one in found)
    return FieldCheck(
        best.groups, best.rates, best.most, best.p_value, best.level,
        min(one.lowest_rate for one in found), checkable, false_alarm,
    )  # fmt: skip


def presence_check(
    audit: Audit, canaries: Mapping[str, int], false_alarm: float = 0.01
) -> list[PresenceCheck]:
    """Compare the number of scored people with the canaries of each group, who surely exist.

    Every canary of a group counts as one person with an account, and the group may have others in
    addition. All groups share the false alarm.
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
    """Return a bound of the probability that noise alone hides this number of canaries."""
    short = round(PARTS * (canaries - estimate))
    if short <= 0:
        return 1.0
    # The smallest level at which the noise does not reach so far.
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
    """Whether it would be an alarm if the deliveries had all gone to one of the groups."""
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
