"""Budgets of mandates: the remaining amount, renewal, debits and refunds.

- `none`: the limit is for the mandate's whole life.
- `fixed`: it holds in each period of `period_days` since `valid_from`. An interval of that length
  that spans two periods may spend twice the limit.
- `rolling`: it holds in every interval of that length.

A lifetime limit bounds every renewing mandate over its whole life. All amounts are exact, and under
composition the sum of the debits bounds the privacy loss.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

from sqlmodel import Session, col, func, select

from api.db import ChargeRow, MandateRow, change_all
from api.db.types import as_decimal
from api.kernel.errors import (
    BudgetExhaustedError,
    EpsilonAboveMandateError,
    ExplorationExhaustedError,
)


def load_remaining(session: Session, mandate: MandateRow, at: datetime) -> Fraction:
    """Return the amount that can be spent at this moment."""
    left = mandate.limit - _used(session, mandate, at)
    if mandate.lifetime_limit is not None:
        left = min(left, mandate.lifetime_limit - mandate.spent)
    return left


class Debit(NamedTuple):
    """Debit of a mandate: an amount in its currency, and the loss that people may have."""

    mandate: MandateRow
    amount: Fraction
    loss: Fraction = Fraction(0)


def debit(session: Session, debits: Sequence[Debit], at: datetime) -> None:
    """Debit these locked mandates, or refuse with the spent, requested and remaining amounts."""
    if len({each.mandate.id for each in debits}) < len(debits):
        named = ", ".join(each.mandate.id for each in debits)
        raise ValueError(f"Debits of one mandate would start from the same balance: {named}")
    change_all(session, [(each.mandate, _debited(session, each, at)) for each in debits])


def remaining_exploration(mandate: MandateRow) -> Fraction:
    """Return the reward that people may still lose. It never renews: a loss cannot be undone."""
    return mandate.exploration_limit - mandate.exploration_spent


def refund(session: Session, charge: ChargeRow) -> None:
    """Refund a charge in the period from which it was debited."""
    query = select(MandateRow).where(MandateRow.id == charge.mandate_id).with_for_update()
    mandate = session.exec(query).one()
    mandate.spent -= charge.debit
    mandate.exploration_spent -= charge.exploration_loss
    if charge.period == mandate.period:
        mandate.period_spent -= charge.debit
    session.add(mandate)


def period_of(mandate: MandateRow, at: datetime) -> int:
    """Return the period's number for a limit that renews at fixed times; 0 for the others."""
    if mandate.renewal != "fixed":
        return 0
    elapsed = at - mandate.valid_from
    return max(mandate.period, elapsed // timedelta(days=mandate.renewal_days or 1))


def _debited(session: Session, debit: Debit, at: datetime) -> dict[str, Any]:
    mandate, amount, loss = debit
    left = load_remaining(session, mandate, at)
    if amount > left:
        raise _refusal(mandate, amount, left)
    if loss > remaining_exploration(mandate):
        raise _too_much(mandate, loss)
    period = period_of(mandate, at)
    before = mandate.period_spent if period == mandate.period else Fraction(0)
    return {
        "spent": mandate.spent + amount,
        "period": period,
        "period_spent": before + amount,
        "exploration_spent": mandate.exploration_spent + loss,
    }


def _used(session: Session, mandate: MandateRow, at: datetime) -> Fraction:
    if mandate.renewal == "fixed":
        return mandate.period_spent if period_of(mandate, at) == mandate.period else Fraction(0)
    if mandate.renewal == "rolling":
        since = at - timedelta(days=mandate.renewal_days or 1)
        query = select(func.sum(ChargeRow.debit)).where(
            ChargeRow.mandate_id == mandate.id,
            col(ChargeRow.charged_at) > since,
            col(ChargeRow.refunded_at).is_(None),
        )
        return session.exec(query).one() or Fraction(0)
    return mandate.spent


def _too_much(mandate: MandateRow, loss: Fraction) -> ExplorationExhaustedError:
    members: dict[str, Any] = {
        "limit": str(as_decimal(mandate.exploration_limit)),
        "spent": str(as_decimal(mandate.exploration_spent)),
        "asked": str(as_decimal(loss)),
        "remaining": str(as_decimal(remaining_exploration(mandate))),
        "mandate_id": mandate.id,
    }
    return ExplorationExhaustedError(
        f"By this audit people may lose {members['asked']} of reward. The mandate allows "
        f"{members['limit']}, of which {members['remaining']} is left. Nothing was charged. "
        f"Request fewer targets or steps, or a smaller alpha, or ask your regulator for a "
        f"mandate with a larger exploration_limit.",
        **members,
    )


def _refusal(
    mandate: MandateRow, amount: Fraction, left: Fraction
) -> BudgetExhaustedError | EpsilonAboveMandateError:
    members: dict[str, Any] = {
        "currency": mandate.currency,
        "limit": str(as_decimal(mandate.limit)),
        "spent": str(as_decimal(mandate.spent)),
        "asked": str(as_decimal(amount)),
        "remaining": str(as_decimal(left)),
        "mandate_id": mandate.id,
    }
    refusal = EpsilonAboveMandateError if amount > mandate.limit else BudgetExhaustedError
    return refusal(
        f"The audit costs {members['asked']} of {mandate.currency}. {members['spent']} of "
        f"{members['limit']} were spent before; {members['remaining']} is left. Nothing was "
        f"charged. Request less, or ask your regulator for a new mandate.",
        **members,
    )
