"""Printed form of a quote, before anything is paid."""

from typing import Any

from auditor_client.audits.offers import Offer
from auditor_client.cli.output import show_row
from auditor_client.kinds.registry import auditor_kind
from auditor_client.kinds.stated_errors import StatedError
from openapi.resources import AuditRequest, BothRelations, Quote


def show_offer(offer: Offer, *, as_json: bool) -> None:
    """Print an offer: a table with the forecast for people, or the whole quote as JSON."""
    if as_json:
        show_row(offer.as_json(), as_json=True)
        return
    row = price_row(offer.quote, offer.request)
    if offer.first:
        first = offer.first.price
        row["first_audit"] = f"{first.debit} {first.currency}, to find the bins"
        row["debit_of_both"] = f"{offer.debit} {first.currency}"
    show_row({**row, "forecast": str(offer.forecast)}, as_json=False)


def price_row(quote: Quote, request: AuditRequest) -> dict[str, Any]:
    """Return the price under both relations, the debit, the expected error, the remainder and the
    advice.
    """
    price = quote.price
    return {
        "epsilon": _words(price.epsilon) if price.epsilon else "none: Gaussian noise has a rho",
        "rho": _words(price.rho),
        "debit": f"{price.debit} {price.currency}",
        **_explored(quote),
        **{f"error_of_{each.part}": str(each) for each in _errors(quote, request)},
        "mandate": quote.mandate_id,
        "remaining_before": quote.remaining_before,
        "remaining_after": quote.remaining_after,
        "covered": "yes" if quote.covered else "no",
        "such_audits_it_buys": quote.buys,
        "advice": f"{quote.advice.mechanism}: {quote.advice.why}",
    }


def _errors(quote: Quote, request: AuditRequest) -> tuple[StatedError, ...]:
    return auditor_kind(request.kind).errors(request, quote.price)


def _words(both: BothRelations) -> str:
    return f"{both.add_remove} (one person more or less), {both.change_one} (one person changed)"


def _explored(quote: Quote) -> dict[str, Any]:
    """Return the reward that people may lose, where an audit explores."""
    if not quote.price.exploration_loss:
        return {}
    return {
        "reward_people_may_lose": quote.price.exploration_loss,
        "exploration_before": quote.exploration_before,
        "exploration_after": quote.exploration_after,
    }
