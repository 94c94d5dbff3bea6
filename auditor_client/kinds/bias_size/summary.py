"""Answer of a bias size: the change of opportunities without the bias."""

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
    """Return the change of each group's opportunities, with its limits."""
    moved, gained = audit.notifications(judged.delta), audit.outcome(judged.delta)
    return Summary(
        _sentence(moved, judged.delta),
        details=(
            f"The total outcome of all opportunities would change by {_change(gained)}.",
            "The limits of all groups hold together. They account for the noise, and "
            "they describe the drawn rows.",
            audit.caution,
        ),
        table=PresentedTable(
            "Opportunities before and after the correction, with noise.",
            ("Group", "Before", "After", "Change in %", "Low", "High"),
            tuple(_row(name, each) for name, each in moved.items()),
        ),
        assumptions=(
            "The correction is that of the outcome test whose numbers the request "
            "states. Scores in a bin with too few outcomes are corrected as in the "
            "nearest bin that has enough.",
            "The number of opportunities of each query stays the same.",
        ),
    )


def _sentence(moved: Mapping[str, OpportunityChange], delta: float) -> str:
    if not all(math.isfinite(each.high) for each in moved.values()):
        few = join_words(name for name, each in moved.items() if not math.isfinite(each.high))
        return (
            "The change of opportunities within the audience without the bias is "
            f"unknown: the noise hides those of {few}."
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
