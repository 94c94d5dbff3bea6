"""Mandates: grants of regulators, and the selection of the mandate that pays."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from api.db import AuditorRow, MandateRow, ResearcherRow
from api.db.types import as_decimal
from api.kernel.clock import now
from api.kernel.errors import (
    InvalidRequestError,
    MandateExpiredError,
    MandateNotYetValidError,
    MandateSuspendedError,
    NoMandateError,
    NotFoundError,
    RefusalError,
)
from api.kernel.ids import new_id
from api.ledger import append, lock
from api.mandates import budgets
from openapi.resources import Mandate, MandateDraft, MandateLimits, Renewal
from privacy.ledger.statements import Statement
from privacy.tables.price import INFINITE, ExactPrice, approximate_epsilon

_OF = select(MandateRow).where(
    col(MandateRow.auditor_id).in_(bindparam("auditors", expanding=True))
)
# Locked rows are read again, even if the session has read them before.
_LOCKED = _OF.with_for_update().execution_options(populate_existing=True)
_AMOUNTS = ("epsilon_limit", "rho_limit", "lifetime_limit", "exploration_limit", "opened_share")


def grant(session: Session, draft: MandateDraft, statement: Statement) -> Mandate:
    lock(session)
    if session.get(AuditorRow, draft.auditor_id) is None:
        raise NotFoundError(f"There is no auditor {draft.auditor_id}.")
    for researcher_id in draft.researcher_ids or ():
        person = session.get(ResearcherRow, researcher_id)
        if person is None or person.auditor_id != draft.auditor_id:
            raise NotFoundError(f"no researcher {researcher_id} of this auditor")
    row = create(session, draft.auditor_id, draft, statement.by)
    append(session, "mandate", {"mandate_id": row.id}, row.auditor_id, statement)
    return to_wire(session, row)


def create(session: Session, auditor_id: str, draft: MandateLimits, by: str) -> MandateRow:
    """Create the mandate; the caller writes the entry that grants it."""
    check_dates(draft.valid_from, draft.valid_until)
    left_out = {"auditor_id", "renewal", "delta", "valid_from", "valid_until"}
    fields = draft.model_dump(exclude=left_out)
    fields |= {name: fraction_of(fields[name]) for name in _AMOUNTS}
    row = MandateRow(
        **fields,
        id=new_id("mandate"),
        auditor_id=auditor_id,
        granted_by=by,
        delta=str(draft.delta) if draft.delta is not None else None,
        renewal=draft.renewal.kind if draft.renewal else None,
        renewal_days=draft.renewal.days if draft.renewal else None,
        spent=Fraction(0),
        period_spent=Fraction(0),
        exploration_spent=Fraction(0),
        valid_from=draft.valid_from.astimezone(UTC),
        valid_until=draft.valid_until.astimezone(UTC),
        created_at=now(),
    )
    session.add(row)
    return row


def load_for_auditors(
    session: Session, auditor_ids: Collection[str], *, lock: bool = False
) -> dict[str, list[MandateRow]]:
    """Return the mandates of each of these auditors, locked on request."""
    found: dict[str, list[MandateRow]] = {auditor_id: [] for auditor_id in auditor_ids}
    for row in session.exec(_LOCKED if lock else _OF, params={"auditors": list(auditor_ids)}):
        found[row.auditor_id].append(row)
    return found


def select_payer(
    session: Session,
    found: Collection[MandateRow],
    kind: str,
    price: ExactPrice,
    mandate_id: str | None,
    at: datetime,
    *,
    researcher_id: str | None = None,
    taken: Mapping[str, Fraction] | None = None,
    explored: Mapping[str, Fraction] | None = None,
) -> MandateRow:
    """Return the mandate that pays: the named one, or the first to end of those that can pay.

    A mandate in epsilon cannot pay for a price without epsilon. A mandate that names individuals
    pays for nobody else. `taken` holds the debits of other audits in the same batch, by mandate,
    and `explored` the losses that people might have by them.
    """
    named = (row for row in found if mandate_id in (None, row.id))
    known = sorted(named, key=lambda row: (row.valid_until, row.id))
    allowing = [row for row in known if kind in row.kinds]
    mine = [row for row in allowing if row.allows(researcher_id or "")]
    paying = [row for row in mine if price.debit(row.currency) != INFINITE]
    active = [row for row in paying if row.state == "active"]
    in_force = [row for row in active if row.valid_from <= at < row.valid_until]
    if not in_force:
        others = [row for row in allowing if row not in mine and row.state == "active"]
        raise _halted(paying, others, kind, at) or _none_in_force(mine, active, kind, at)
    able = (
        row
        for row in in_force
        if price.debit(row.currency)
        <= budgets.load_remaining(session, row, at) - (taken or {}).get(row.id, 0)
        and price.exploration_loss
        <= budgets.remaining_exploration(row) - (explored or {}).get(row.id, 0)
    )
    return next(able, in_force[0])


def to_wire(session: Session, row: MandateRow) -> Mandate:
    fields: dict[str, Any] = row.model_dump(
        include={"id", "auditor_id", "purpose", "kinds", "valid_from", "valid_until", "created_at"}
    )
    fields |= {"state": row.state, "researcher_ids": row.researcher_ids}
    fields |= {name: _decimal(getattr(row, name)) for name in _AMOUNTS}
    approximate = None
    if row.rho_limit is not None and row.delta is not None:
        approximate = approximate_epsilon(row.rho_limit, Fraction(row.delta))
    return Mandate(
        **fields,
        currency=row.currency,
        delta=row.delta,
        approximate_epsilon=approximate,
        renewal=renewal_of(row),
        spent=as_decimal(row.spent),
        remaining=as_decimal(max(Fraction(0), budgets.load_remaining(session, row, now()))),
        exploration_spent=as_decimal(row.exploration_spent),
        exploration_remaining=as_decimal(max(Fraction(0), budgets.remaining_exploration(row))),
    )


def check_dates(valid_from: datetime, valid_until: datetime) -> None:
    if valid_from.tzinfo is None or valid_until.tzinfo is None:
        raise InvalidRequestError("valid_from and valid_until need a time zone.")
    try:
        valid_from.astimezone(UTC), valid_until.astimezone(UTC)
    except OverflowError as error:
        raise InvalidRequestError(
            "valid_from and valid_until must be in the years 1 to 9999."
        ) from error
    if valid_from >= valid_until:
        raise InvalidRequestError("valid_until must be after valid_from.", case="empty-period")


def renewal_of(row: MandateRow) -> Renewal | None:
    if row.renewal is None:
        return None
    return Renewal.model_validate({"kind": row.renewal, "days": row.renewal_days})


def fraction_of(amount: Any) -> Fraction | None:
    return None if amount is None else Fraction(amount)


def _decimal(amount: Fraction | None) -> Any:
    return None if amount is None else as_decimal(amount)


def _halted(
    paying: list[MandateRow], others: list[MandateRow], kind: str, at: datetime
) -> RefusalError | None:
    """Return the error for a suitable mandate that is suspended, for others, or terminated."""
    dated = [row for row in paying if row.valid_from <= at < row.valid_until]
    if suspended := [row.id for row in dated if row.state == "suspended"]:
        return MandateSuspendedError(
            f"The mandate {suspended[0]} is suspended until your regulator resumes it. "
            f"Nothing was charged.",
            mandate_id=suspended[0],
        )
    if others:
        return NoMandateError(
            f"A mandate of your auditor allows {kind}, but it names other researchers, not you. "
            f"Nothing was charged. Ask your regulator to name you in it."
        )
    if dated:
        return MandateExpiredError("Your regulator terminated the mandate. Nothing was charged.")
    return None


def _none_in_force(
    allowing: list[MandateRow], paying: list[MandateRow], kind: str, at: datetime
) -> RefusalError:
    if early := [row for row in paying if at < row.valid_from]:
        begins = min(row.valid_from for row in early).isoformat()
        return MandateNotYetValidError(f"The mandate is valid from {begins}. Nothing was charged.")
    if paying:
        ended = max(row.valid_until for row in paying).isoformat()
        return MandateExpiredError(f"The mandate ended at {ended}. Nothing was charged.")
    if allowing:
        return NoMandateError(
            "Gaussian noise has no pure epsilon: it needs a mandate in rho. Nothing was charged.",
            case="no-mandate-in-rho",
        )
    return NoMandateError(
        f"None of your mandates allows {kind}. Nothing was charged. Ask your regulator for one."
    )
