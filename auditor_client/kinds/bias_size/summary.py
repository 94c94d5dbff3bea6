"""Answer of a bias size: how opportunities would change without the bias."""

import math
from collections.abc import Mapping

from auditor_client.kinds.bias_size.result import BiasSizeResult, OpportunityChange
from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary
from auditor_client.reporting.rounding import (
    confidence,
    format_interval,
    join_words,
    lower,
    number,
    upper,
)


def summarise(audit: BiasSizeResult, judged: Judgement) -> Summary:
    """Return the change of each group's opportunities between its limits."""
    moved, gained = audit.notifications(judged.delta), audit.outcome(judged.delta)
    return Summary(
        _sentence(moved, judged.delta),
        details=(
            f"The outcome of all opportunities together would change by {_change(gained)}.",
            "The limits of all groups hold together. They count the noise, and they are about the"
            " rows that were drawn.",
            audit.caution,
        ),
        table=PresentedTable(
            "Opportunities as they were and corrected, noise included.",
            ("Group", "Before", "After", "Change in %", "Low", "High"),
            tuple(_row(name, each) for name, each in moved.items()),
        ),
        assumptions=(
            "The correction is the one of the outcome test whose numbers the request names. Scores"
            " in a bin with too few outcomes are corrected as in the nearest bin that has enough.",
            "The number of opportunities of each query stays the same.",
        ),
    )


def _sentence(moved: Mapping[str, OpportunityChange], delta: float) -> str:
    if not all(math.isfinite(each.high) for each in moved.values()):
        few = join_words(name for name, each in moved.items() if not math.isfinite(each.high))
        return (
            "How opportunities within the audience would change without the bias cannot be told:"
            f" the noise hides those of {few}."
        )
    changes = join_words(f"{_change(each)} for {name}" for name, each in moved.items())
    return (
        f"Without the bias, opportunities within the audience would change by {changes}"
        f" ({confidence(delta)})."
    )


def _change(change: OpportunityChange) -> str:
    if not math.isfinite(change.high):
        return "an unknown amount"
    limits = (
        format_interval(change.low, change.high, 1).replace("between ", "").replace(" and ", " to ")
    )
    return f"{change.value:+.1f} % ({limits})"


def _row(name: str, change: OpportunityChange) -> tuple[str, ...]:
    return (
        name,
        number(change.before, 1),
        number(change.after, 1),
        number(change.value, 1),
        lower(change.low, 1),
        upper(change.high, 1),
    )
