"""Answer of a score histogram: the verdict on its fairness gap."""

from typing import Any

from auditor_client.fairness.bin_intervals import measured_gaps, measured_shares
from auditor_client.fairness.gap import FairnessGap
from auditor_client.fairness.worst_impact import ImpactRatio
from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary
from auditor_client.kinds.score_histogram import impact, narrative
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.reporting.rounding import percent

# Largest number of rows in a table for people; `table()` has all rows.
MOST_ROWS = 25


def summarise(audit: ScoreHistogramResult, judged: Judgement) -> Summary:
    """Return the verdict at the judgement's tolerance, the gap's interval and its driver."""
    gap, ratio = audit.fairness_gap(judged.delta), audit.worst_impact(judged.delta)
    said, more = gap.explain(judged.alpha, audit.bin_names()), impact.clause(audit, ratio)
    return Summary(
        f"{said.removesuffix('.')}; {more}." if more else said,
        gap.verdict(judged.alpha),
        details=(
            narrative.explanation(gap, judged.alpha),
            impact.detail(audit, ratio),
            narrative.driver(audit, gap),
            *narrative.threshold(audit, gap),
            narrative.definition(),
        ),
        table=_table(audit),
        assumptions=tuple(narrative.assumptions(audit)),
        numbers=_numbers(audit, gap, ratio),
        question=narrative.question(audit),
    )


def _numbers(audit: ScoreHistogramResult, gap: FairnessGap, ratio: ImpactRatio) -> dict[str, Any]:
    """Return the gap of single bins, that of thresholds, and the worst impact ratio."""
    found: dict[str, Any] = {"efg": gap.efg, "low": gap.low, "high": gap.high}
    if (at := gap.threshold) is not None:
        found["threshold"] = {
            "estimate": at.estimate,
            "low": at.low,
            "high": at.high,
            "scores_from": audit.edge_score(at.edge),
        }
    found["impact_ratio"] = {
        "estimate": ratio.estimate,
        "low": ratio.low,
        "high": ratio.high,
        "least_share": ratio.least_share,
        "four_fifths": ratio.four_fifths(),
        "scores_from": None if ratio.edge is None else audit.edge_score(ratio.edge),
    }
    return found


def _table(audit: ScoreHistogramResult) -> PresentedTable:
    """Return the shares of each bin; if there are many, only bins with the largest measured
    gaps.
    """
    shares = measured_shares(audit.groups())
    labels, cells = list(audit.counts), {(each.group, each.bin): each.share for each in shares}
    gaps, names = measured_gaps(shares), audit.bin_names()
    widest = sorted(range(len(names)), key=lambda number: -gaps[number])[:MOST_ROWS]
    rows = tuple(
        (
            names[number],
            *(percent(cells[label, number], 1) for label in labels),
            f"{gaps[number]:.3f}",
        )
        for number in sorted(widest)
    )
    less = len(names) > MOST_ROWS
    which = f" The {MOST_ROWS} bins with the largest measured gaps." if less else ""
    return PresentedTable(
        f"Shares of each group per bin of scores, with noise.{which}",
        ("Scores", *labels, "Gap"),
        rows,
    )
