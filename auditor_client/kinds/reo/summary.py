"""Answer of an REO audit: whether relevant content of each group is shown equally often."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary, Verdict
from auditor_client.kinds.reo.result import ReoResult
from auditor_client.reo.ratio_lines import Lines, four_fifths
from auditor_client.reporting.rounding import (
    confidence,
    error,
    format_interval,
    join_words,
    percent,
)

if TYPE_CHECKING:
    from auditor_client.reo import Penalty

# Largest number of rows in a table for people; `table()` has all rows.
MOST_ROWS = 40


def summarise(audit: ReoResult, judged: Judgement) -> Summary:
    """Return the verdict on the first strategy by the four-fifths rule, and every penalty."""
    made = audit.release
    found = penalties(audit, judged)
    lines = four_fifths(len(made.creator_groups))
    name, first = next(iter(found.items()))
    verdict = _verdict(first, lines)
    return Summary(
        f"{_headline(verdict, name)} {_limits(first, judged.delta)}",
        verdict,
        details=(
            *(f"{strategy}: {each.explain()}" for strategy, each in found.items()),
            f"A penalty above {percent(lines.broken, 1)} certainly violates the "
            f"four-fifths rule; one below {percent(lines.holds, 1)} satisfies it.",
            f"Each count is within {error(audit.error_95)} rows (95 % confidence).",
        ),
        table=_table(audit),
        assumptions=(
            "Random traffic shows every item with the same probability.",
            (
                f"The positive signals ({join_words(made.signals)}) show which content is "
                "relevant to a viewer."
            ),
        ),
    )


def penalties(audit: ReoResult, judged: Judgement) -> "dict[str, Penalty]":
    """Return the penalty of each strategy; all limits hold at once."""
    strategies = audit.release.strategies
    share = judged.delta / len(strategies)
    return {name: audit.penalty(name, delta=share) for name in strategies}


def _verdict(found: "Penalty", lines: Lines) -> Verdict:
    if found.high <= lines.holds:
        return "fair"
    return "unfair" if found.low > lines.broken else "inconclusive"


def _headline(verdict: Verdict, strategy: str) -> str:
    return {
        "fair": f"Fair by the four-fifths rule: strategy “{strategy}” shows relevant content of"
        " each group equally often.",
        "unfair": f"Unfair by the four-fifths rule: strategy “{strategy}” shows relevant content "
        "more or less often depending on its creator’s group.",
        "inconclusive"
        "": f"Inconclusive: this audit cannot tell whether strategy “{strategy}” satisfies "
        "the four-fifths rule.",
    }[verdict]


def _limits(found: "Penalty", delta: float) -> str:
    if not found.defined and found.low <= 0 and found.high >= found.largest:
        return "There are too few positive rows for limits of the penalty."
    return f"The penalty lies {format_interval(found.low, found.high)} ({confidence(delta)})."


def _table(audit: ReoResult) -> PresentedTable:
    rows: Sequence[dict[str, object]] = audit.table().to_pylist()
    several = len(audit.release.groups) > 1
    shown = tuple(
        (
            str(row["strategy"] or "random traffic"),
            *([str(row["group"])] if several else []),
            *([str(row["day"] or "all")] if audit.release.days else []),
            str(row["creators"]),
            f"{row['positives']:,}",
            f"{row['negatives']:,}",
        )
        for row in rows[:MOST_ROWS]
    )
    heads = (
        "Strategy",
        *(["Viewers"] if several else []),
        *(["Day"] if audit.release.days else []),
        "Creators",
        "Positive",
        "Negative",
    )
    more = f" The first {MOST_ROWS} of {len(rows)} rows." if len(rows) > MOST_ROWS else ""
    return PresentedTable(f"Rows by traffic and group of creators, with noise.{more}", heads, shown)
