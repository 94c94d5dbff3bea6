"""Results of a score histogram: gap, pairs, drivers and assumptions."""

from collections.abc import Mapping, Sequence
from typing import Any

from auditor_client.fairness.gap import FairnessGap
from auditor_client.kinds.presentation import Judgement
from auditor_client.kinds.score_histogram.narrative import explanation
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.reporting.results_document import (
    AssumptionFound,
    DriverFound,
    Gap,
    GroupPeople,
    ImpactFound,
    ThresholdFound,
)

# Number of bins that are computed for each pair of groups; hundreds of bins take minutes.
DRIVERS = 5


def analyse_histogram(audit: ScoreHistogramResult, judged: Judgement) -> Mapping[str, Any]:
    """Return the fields of `AuditFound` that score histograms have."""
    alpha, delta = judged.alpha, judged.delta
    gap = audit.fairness_gap(delta)
    bins = audit.bin_names()
    return {
        "numbers": {},
        "words": explanation(gap, alpha),
        "gap": _gap(gap, bins),
        "threshold": _threshold(audit, gap),
        "impact": _impact(audit, delta),
        "people": tuple(
            GroupPeople(group=name, people=round(group.size.estimate), known=group.size.kind)
            for name, group in audit.scored_groups().items()
        ),
        "pairs": tuple(_gap(pair, bins) for pair in audit.pair_gaps(delta)),
        "drivers": tuple(
            DriverFound(
                first=driver.groups[0],
                second=driver.groups[1],
                scores=bins[driver.bin],
                value=driver.difference,
                low=driver.low,
                high=driver.high,
            )
            for driver in audit.drivers(delta, DRIVERS)
        ),
        "assumptions": tuple(
            AssumptionFound(name=one.name, holds=one.holds, words=one.words)
            # Theorem 1 does not cover a gap of exactly zero.
            for one in (audit.assumptions(alpha, delta) if alpha > 0 else [])
        ),
    }


def _gap(gap: FairnessGap, bins: Sequence[str]) -> Gap:
    more, less = gap.groups
    return Gap(
        more=more,
        less=less,
        scores=bins[gap.bin],
        value=gap.efg,
        low=gap.low,
        high=gap.high,
        at_least=gap.at_least,
        at_most=gap.at_most,
    )


def _threshold(audit: ScoreHistogramResult, gap: FairnessGap) -> ThresholdFound | None:
    at = gap.threshold
    if at is None:
        return None
    more, less = at.groups
    return ThresholdFound(
        more=more,
        less=less,
        scores_from=audit.edge_score(at.edge),
        value=at.estimate,
        low=at.low,
        high=at.high,
        at_least=at.at_least,
        at_most=at.at_most,
    )


def _impact(audit: ScoreHistogramResult, delta: float) -> ImpactFound:
    ratio = audit.worst_impact(delta)
    worse, better = ratio.groups
    return ImpactFound(
        worse=worse,
        better=better,
        scores_from=None if ratio.edge is None else audit.edge_score(ratio.edge),
        least_share=ratio.least_share,
        value=ratio.estimate,
        low=ratio.low,
        high=ratio.high,
        at_least=ratio.at_least,
        at_most=ratio.at_most,
        four_fifths=ratio.four_fifths(),
    )
