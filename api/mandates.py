"""Mandates: what a regulator granted, and what is left of it."""

from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from sqlmodel import Session, col, select

from api.auth.caller import Caller
from api.clock import now
from api.errors import (
    BudgetExhaustedError,
    EpsilonAboveMandateError,
    InvalidRequestError,
    MandateExpiredError,
    MandateNotYetValidError,
    NoMandateError,
    NotFoundError,
    RefusalError,
)
from api.ids import new_id
from api.ledger import append
from api.store import AuditorRow, MandateRow
from api.store.types import as_decimal
from openapi.models import Mandate, MandateDraft


def grant(session: Session, regulator: Caller, draft: MandateDraft) -> Mandate:
    if draft.valid_from.tzinfo is None or draft.valid_until.tzinfo is None:
        raise InvalidRequestError("valid_from and valid_until need a time zone")
    try:
        window = {
            "valid_from": draft.valid_from.astimezone(UTC),
            "valid_until": draft.valid_until.astimezone(UTC),
        }
    except OverflowError as error:
        raise InvalidRequestError("valid_from and valid_until must be years 1 to 9999") from error
    if draft.valid_from >= draft.valid_until:
        raise InvalidRequestError("valid_until must be after valid_from")
    if session.get(AuditorRow, draft.auditor_id) is None:
        raise NotFoundError(f"no auditor {draft.auditor_id}")
    row = MandateRow(
        id=new_id("mandate"),
        granted_by=regulator.researcher_id,
        spent=Fraction(0),
        created_at=now(),
        **{**draft.model_dump(), **window, "epsilon_limit": Fraction(draft.epsilon_limit)},
    )
    session.add(row)
    body = draft.model_dump(mode="json") | {"mandate": row.id, "by": regulator.researcher_id}
    append(session, "mandate", body, row.auditor_id)
    return view(row)


def choose(
    session: Session, auditor_id: str, kind: str, mandate_id: str | None, *, lock: bool = False
) -> MandateRow:
    """The mandate that pays: the one named, or the one in force that ends first."""
    query = select(MandateRow).where(MandateRow.auditor_id == auditor_id)
    if mandate_id is not None:
        query = query.where(MandateRow.id == mandate_id)
    query = query.order_by(col(MandateRow.valid_until), col(MandateRow.id))
    allowing = [row for row in session.exec(query) if kind in row.kinds]
    at = now()
    chosen = next((row for row in allowing if row.valid_from <= at < row.valid_until), None)
    if chosen is None:
        raise _none_in_force(allowing, kind, at)
    if not lock:
        return chosen
    locked = select(MandateRow).where(MandateRow.id == chosen.id).with_for_update()
    return session.exec(locked.execution_options(populate_existing=True)).one()


def debit(session: Session, mandate: MandateRow, amount: Fraction) -> None:
    """Take the amount from a locked mandate, or refuse with what was spent, asked and is left."""
    remaining = mandate.epsilon_limit - mandate.spent
    if amount > remaining:
        members: dict[str, Any] = {
            "limit": str(as_decimal(mandate.epsilon_limit)),
            "spent": str(as_decimal(mandate.spent)),
            "asked": str(as_decimal(amount)),
            "remaining": str(as_decimal(remaining)),
            "mandate_id": mandate.id,
        }
        refusal = (
            EpsilonAboveMandateError if amount > mandate.epsilon_limit else BudgetExhaustedError
        )
        raise refusal(
            f"this asks for {members['asked']} of epsilon; {members['spent']} of "
            f"{members['limit']} were spent before, {members['remaining']} is left. Nothing was "
            "charged: ask with a smaller epsilon, or ask your regulator for a new mandate.",
            **members,
        )
    mandate.spent += amount
    session.add(mandate)


def refund(session: Session, mandate_id: str, amount: Fraction) -> None:
    query = select(MandateRow).where(MandateRow.id == mandate_id).with_for_update()
    mandate = session.exec(query).one()
    mandate.spent -= amount
    session.add(mandate)


def view(row: MandateRow) -> Mandate:
    fields = row.model_dump(exclude={"granted_by", "epsilon_limit", "spent"})
    return Mandate(
        **fields,
        epsilon_limit=as_decimal(row.epsilon_limit),
        spent=as_decimal(row.spent),
        remaining=as_decimal(row.epsilon_limit - row.spent),
    )


def _none_in_force(mandates: list[MandateRow], kind: str, at: datetime) -> RefusalError:
    if early := [row for row in mandates if at < row.valid_from]:
        begins = min(row.valid_from for row in early).isoformat()
        return MandateNotYetValidError(f"the mandate is valid from {begins}. Nothing was charged.")
    if mandates:
        ended = max(row.valid_until for row in mandates).isoformat()
        return MandateExpiredError(f"the mandate ended at {ended}. Nothing was charged.")
    return NoMandateError(
        f"no mandate of yours allows {kind}: ask your regulator for one. Nothing was charged."
    )
