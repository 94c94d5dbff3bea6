"""Cancellation of audits: a refund, possible until a worker begins to read."""

from datetime import datetime

from sqlmodel import Session, select

from api.accounting import charge as charging
from api.audits import queries
from api.audits.states import change_state
from api.db import AuditRow, ChargeRow
from api.identity.caller import Caller
from api.kernel import failpoints
from api.kernel.errors import NotCancellableError
from api.kernel.failpoints import Failpoint
from api.kernel.settings import Settings
from api.ledger import lock
from openapi.resources import Audit


def cancel(session: Session, caller: Caller, audit_id: str, settings: Settings) -> Audit:
    """Cancel the caller's audit and refund its charge, if no worker has begun to read.

    Raise `NotCancellableError` in every state but `charged`.
    """
    at = lock(session)
    row = queries.get_owned(session, caller, audit_id, lock=True)
    if row.state != "charged":
        raise NotCancellableError(
            f"The audit is {row.state}, so its charge stays."
            " Only an audit in the state 'charged' can be cancelled."
        )
    give_back(session, at, row, settings)
    failpoints.hit(Failpoint.CANCEL_WRITTEN)
    return queries.to_wire(row)


def give_back(session: Session, at: datetime, row: AuditRow, settings: Settings) -> None:
    """Cancel a locked audit that no worker has begun, and refund it."""
    charge = session.exec(select(ChargeRow).where(ChargeRow.audit_id == row.id)).one()
    charging.refund(session, at, charge, settings)
    change_state(row, "cancelled")
    row.finished_at = at
    session.add(row)
    session.flush()
