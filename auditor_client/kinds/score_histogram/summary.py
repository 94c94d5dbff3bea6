"""Answer of a score histogram: the verdict on its fairness gap."""

from auditor_client.fairness.bin_intervals import measured_gaps, measured_shares
from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary
from auditor_client.kinds.score_histogram import narrative
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.reporting.rounding import percent

# A table for people has at most this many rows; `frame()` has all of them.
MOST_ROWS = 25


def summarise(audit: ScoreHistogramResult, judged: Judgement) -> Summary:
    """Return the verdict at the judgement's tolerance, where the gap lies and what drives it."""
    gap = audit.fairness_gap(judged.delta)
    return Summary(
        gap.explain(judged.alpha, audit.bin_names()),
        gap.verdict(judged.alpha),
        details=(
            narrative.explanation(gap, judged.alpha),
            narrative.driver(audit, gap),
            narrative.definition(),
        ),
        table=_table(audit),
        assumptions=tuple(narrative.assumptions(audit)),
        numbers={"efg": gap.efg, "low": gap.low, "high": gap.high},
        question=narrative.question(audit),
    )


def _table(audit: ScoreHistogramResult) -> PresentedTable:
    """Return the shares of each bin; of many bins, those with the largest measured gaps."""
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
        f"Shares of each group per bin of scores, noise included.{which}",
        ("Scores", *labels, "Gap"),
        rows,
    )
