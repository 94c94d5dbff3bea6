"""Sentences about the worst impact ratio of a score histogram: certain failures and missed
chances.
"""

from auditor_client.fairness.worst_impact import FOUR_FIFTHS, ImpactRatio
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.planning.fast_power import estimate_power
from auditor_client.planning.power_simulation import AuditDesign
from auditor_client.reporting.metric_sentences import round_down, round_up

# Power at which an audit counts as able to exclude a ratio below 4/5.
POWER = 0.8


def clause(audit: ScoreHistogramResult, impact: ImpactRatio) -> str | None:
    """Return the clause of the first sentence about the ratio: a certain failure, or a missed
    chance.
    """
    if impact.four_fifths() == "fails":
        return (
            f"an impact ratio below {FOUR_FIFTHS:g} is certain: the worst is at most"
            f" {round_up(impact.at_most)}, {_measured(audit, impact)}"
        )
    if impact.four_fifths() == "passes" or impact.edge is None or not could_exclude(audit, impact):
        return None
    return (
        f"this audit could have excluded an impact ratio below {FOUR_FIFTHS:g} and did not: the"
        f" worst is at least {round_down(impact.at_least)}, {_measured(audit, impact)}"
    )


def could_exclude(audit: ScoreHistogramResult, impact: ImpactRatio) -> bool:
    """Return whether an audit of these people and this noise excludes such a ratio on a fair
    platform.

    The exclusion must have a probability of at least `POWER`, if the best-served group has exactly
    the smallest share.
    """
    groups = list(audit.groups().values())
    people = [round(group.size.estimate) for group in groups]
    first = groups[0]
    design = AuditDesign(
        impact.delta, impact.delta, len(groups), len(first.table), first.rate, first.size.kind,
        first.size.noisy_rate, criterion="four-fifths", least_share=impact.least_share,
        ratios=tuple(number / min(people) for number in people),
    )  # fmt: skip
    return estimate_power(design, min(people), 0.0, "fair") >= POWER


def detail(audit: ScoreHistogramResult, impact: ImpactRatio) -> str:
    """Return the ratio with its limits, or the reason why there is none."""
    if impact.edge is None:
        return (
            "There is no impact ratio: above no edge can a group have a share of "
            f"{impact.least_share:g}, from which a ratio counts."
        )
    return (
        f"The worst impact ratio, over all edges above which a group may have a share of"
        f" {impact.least_share:g}, lies between {round_down(impact.low)} and "
        f"{round_up(impact.high)};"
        f" {_measured(audit, impact)}."
    )


def _measured(audit: ScoreHistogramResult, impact: ImpactRatio) -> str:
    worse, better = impact.groups
    score = audit.edge_score(impact.edge or 0)
    return (
        f"measured worst ({impact.estimate:.2f}) for scores of {score:g} or above, {worse} against"
        f" {better}"
    )
