"""What a finished audit says, as the command prints it: one row per kind."""

from itertools import pairwise
from typing import Any

from auditor_client.audits import AnyResult
from auditor_client.balance_histogram import BalanceHistogram
from auditor_client.finished import FinishedAudit
from auditor_client.match_count import MatchCount
from auditor_client.most_skewed import MostSkewed
from auditor_client.score_cdf import ScoreCdf

OtherResult = ScoreCdf | MatchCount | MostSkewed | BalanceHistogram


def finding(audit: FinishedAudit, alpha: float, delta: float) -> dict[str, Any]:
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
    """What an audit of another kind says."""
    found: dict[str, Any]
    match audit:
        case ScoreCdf():
            found = {"up_to": [*audit.edges, "everybody"], **audit.cumulative}
        case BalanceHistogram():
            found = {
                "shares_of_the_cap": bin_words(audit),
                **audit.counts,
                "outside": audit.outside,
                "note": audit.words,
            }
        case MatchCount():
            found = {"found": audit.counts}
        case MostSkewed():
            chosen = audit.chosen
            found = {"position": audit.position, "content": chosen.id, "title": chosen.title}
    return {"audit": audit.id, **found, "error_95": audit.error_95, **_paid(audit)}


def bin_words(audit: BalanceHistogram) -> list[str]:
    return [f"{low:g} to {high:g}" for low, high in pairwise(audit.edges)]


def _paid(audit: AnyResult) -> dict[str, str]:
    price = audit.release.price
    return {"debit": str(price.debit), "currency": price.currency}
