"""Quotes: the price of audits, and the budget that would remain. Nothing is spent."""

from collections.abc import Sequence
from fractions import Fraction

from sqlmodel import Session

from api.accounting import charge
from api.audits import request_pricing
from api.audits.mechanism_advice import advise
from api.audits.pricing import require_currency
from api.db.types import as_decimal
from api.identity.caller import Caller
from api.kernel.clock import now
from api.kernel.settings import Settings
from api.mandates import budgets
from api.mandates import service as mandates
from api.platforms.interfaces import Platform
from openapi.resources import AuditRequest, BatchQuote, Currency, Quote


def quote(
    session: Session,
    caller: Caller,
    request: AuditRequest,
    platform: Platform,
    settings: Settings,
) -> Quote:
    """Return the price of the audit and the budget that would remain. Nothing is spent."""
    [only] = quote_all(session, caller, [request], platform, settings).quotes
    return only


def quote_all(
    session: Session,
    caller: Caller,
    requests: Sequence[AuditRequest],
    platform: Platform,
    settings: Settings,
) -> BatchQuote:
    """Return quotes of several audits; each counts the debits of those before it."""
    quotes, debits, taken = [], dict[Currency, Fraction](), dict[str, Fraction]()
    explored: dict[str, Fraction] = {}
    granted = mandates.load_for_auditors(session, [caller.auditor])[caller.auditor]
    for request in requests:
        asked = request_pricing.resolve(session, caller, request, platform, settings)
        exact = asked.price
        mandate = mandates.select_payer(
            session,
            granted,
            request.kind,
            exact,
            request.mandate_id,
            now(),
            researcher_id=caller.researcher_id,
            taken=taken,
            explored=explored,
        )
        price = require_currency(asked.shown, mandate.currency)
        charge.refuse_above_lifetime_cap(price, settings, request)
        debit, loss = Fraction(price.debit), exact.exploration_loss
        before = budgets.load_remaining(session, mandate, now()) - taken.get(
            mandate.id, Fraction(0)
        )
        unharmed = budgets.remaining_exploration(mandate) - explored.get(mandate.id, Fraction(0))
        quotes.append(
            Quote(
                price=price,
                mandate_id=mandate.id,
                remaining_before=as_decimal(max(before, Fraction(0))),
                remaining_after=as_decimal(before - debit),
                exploration_before=as_decimal(max(unharmed, Fraction(0))),
                exploration_after=as_decimal(unharmed - loss),
                covered=before >= debit and unharmed >= loss,
                buys=max(0, min(before // debit, unharmed // loss if loss else before // debit)),
                advice=advise(request, asked.plan, price),
            )
        )
        taken[mandate.id] = taken.get(mandate.id, Fraction(0)) + debit
        explored[mandate.id] = explored.get(mandate.id, Fraction(0)) + loss
        debits[mandate.currency] = debits.get(mandate.currency, Fraction(0)) + debit
    return BatchQuote(
        quotes=quotes,
        debits={currency: as_decimal(amount) for currency, amount in debits.items()},
        covered=all(quote.covered for quote in quotes),
    )
