"""What a finished audit says, as the command prints it."""

from typing import Any

from auditor_client.kinds.registry import AnyResult, OtherResult
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult


def finding(audit: ScoreHistogramResult, alpha: float, delta: float) -> dict[str, Any]:
    """The gap and the verdict."""
    gap = audit.fairness_gap(delta=delta)
    return {
        "audit": audit.id,
        "efg": gap.efg,
        "low": gap.low,
        "high": gap.high,
        "alpha": alpha,
        "delta": delta,
        "verdict": gap.verdict(alpha),
        **_paid(audit),
    }


def result_row(audit: OtherResult) -> dict[str, Any]:
    """What an audit of another kind says, and what it cost."""
    return {"audit": audit.id, **audit.numbers(), **_paid(audit)}


def _paid(audit: AnyResult) -> dict[str, str]:
    price = audit.release.price
    return {"debit": str(price.debit), "currency": price.currency}
