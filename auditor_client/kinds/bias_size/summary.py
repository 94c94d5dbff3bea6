"""Answer of a bias size: how opportunities would change without the bias."""

from auditor_client.kinds.bias_size.result import BiasSizeResult, OpportunityChange
from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary
from auditor_client.reporting.rounding import between, confidence, listed, lower, number, upper


def summarise(audit: BiasSizeResult, judged: Judgement) -> Summary:
    """Return the change of each group's opportunities between its limits."""
    moved, gained = audit.notifications(judged.delta), audit.outcome(judged.delta)
    changes = listed(f"{_change(each)} for {name}" for name, each in moved.items())
    return Summary(
        "Without the bias, opportunities within the audience would change by"
        f" {changes} ({confidence(judged.delta)}).",
        details=(
            f"What comes of all opportunities together would change by {_change(gained)}.",
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
            "The correction is the one of the outcome test whose numbers the request names.",
            "The number of opportunities of each query stays the same.",
        ),
    )


def _change(change: OpportunityChange) -> str:
    limits = between(change.low, change.high, 1).replace("between ", "").replace(" and ", " to ")
    return f"{change.value:+.1f} % ({limits})"


def _row(name: str, change: OpportunityChange) -> tuple[str, ...]:
    return (
        name,
        number(change.before, 1),
        number(change.after, 1),
        f"{change.value:+.1f}",
        lower(change.low, 1),
        upper(change.high, 1),
    )
