"""Interventions of a regulator in a mandate: suspend, resume, terminate, change.

While suspended, audits that no worker has begun wait. Running ones finish, because their data were
read. On termination, audits that no worker has begun are cancelled and refunded; running ones
finish.
"""

from datetime import UTC

from sqlmodel import Session, select

from api.accounts import personal_text
from api.audits import cancellation
from api.db import AuditRow, MandateRow
from api.kernel.errors import ConflictError, InvalidRequestError, NotFoundError
from api.kernel.settings import Settings
from api.ledger import append, lock
from api.mandates.service import check_dates, fraction_of
from openapi.resources import MandateChangeDraft, MandateStateDraft
from privacy.ledger.statements import Statement


def suspend(session: Session, draft: MandateStateDraft, statement: Statement) -> MandateRow:
    return _change_state(session, draft, statement, "suspension", "active", "suspended")


def resume(session: Session, draft: MandateStateDraft, statement: Statement) -> MandateRow:
    return _change_state(session, draft, statement, "resumption", "suspended", "active")


def terminate(
    session: Session, draft: MandateStateDraft, statement: Statement, settings: Settings
) -> MandateRow:
    """Terminate the mandate, and refund its charged audits that have not begun."""
    at = lock(session)
    row = _locked(session, draft.mandate_id)
    if row.state == "terminated":
        raise ConflictError(
            "The mandate is terminated already.", state=row.state, case="terminated-already"
        )
    row.state = "terminated"
    session.add(row)
    personal_text.store_texts(session, draft, row.id)
    append(session, "termination", {}, row.auditor_id, statement, at=at)
    waiting = select(AuditRow).where(AuditRow.mandate_id == row.id, AuditRow.state == "charged")
    for audit in session.exec(waiting.order_by(AuditRow.id).with_for_update()).all():
        cancellation.give_back(session, at, audit, settings)
    return row


def change(session: Session, draft: MandateChangeDraft, statement: Statement) -> MandateRow:
    """Change limits, kinds or the end of a mandate; spent amounts are unchanged."""
    at = lock(session)
    row = _locked(session, draft.mandate_id)
    if row.state == "terminated":
        raise ConflictError(
            "A terminated mandate cannot be changed.", state=row.state, case="terminated"
        )
    _check(row, draft)
    for name in ("epsilon_limit", "rho_limit", "lifetime_limit", "exploration_limit"):
        if (amount := fraction_of(getattr(draft, name))) is not None:
            setattr(row, name, amount)
    row.kinds = list(draft.kinds or row.kinds)
    if draft.valid_until is not None:
        row.valid_until = draft.valid_until.astimezone(UTC)
    session.add(row)
    personal_text.store_texts(session, draft, row.id)
    append(session, "mandate-change", {}, row.auditor_id, statement, at=at)
    return row


def _change_state(
    session: Session,
    draft: MandateStateDraft,
    statement: Statement,
    kind: str,
    before: str,
    after: str,
) -> MandateRow:
    at = lock(session)
    row = _locked(session, draft.mandate_id)
    if row.state != before:
        raise ConflictError(
            f"The mandate is {row.state}, not {before}. Nothing was changed.",
            state=row.state,
            case=row.state,
        )
    row.state = after
    session.add(row)
    personal_text.store_texts(session, draft, row.id)
    append(session, kind, {}, row.auditor_id, statement, at=at)
    return row


def _locked(session: Session, mandate_id: str) -> MandateRow:
    query = select(MandateRow).where(MandateRow.id == mandate_id).with_for_update()
    row = session.exec(query).first()
    if row is None:
        raise NotFoundError(f"no mandate {mandate_id}")
    return row


def _check(row: MandateRow, draft: MandateChangeDraft) -> None:
    other = "rho_limit" if row.currency == "epsilon" else "epsilon_limit"
    if getattr(draft, other) is not None:
        raise InvalidRequestError(
            f"The mandate is in {row.currency}, which cannot be changed.", case="another-currency"
        )
    if draft.lifetime_limit is not None and row.lifetime_limit is None:
        raise InvalidRequestError(
            "Only a limit that renews has a lifetime_limit.", case="no-renewal"
        )
    if draft.valid_until is not None:
        check_dates(row.valid_from, draft.valid_until)
