"""Charges given back, as long as no worker has begun to read."""

from datetime import datetime

from sqlmodel import Session, select

from api import boundaries, charging, standing
from api.auth.caller import Caller
from api.boundaries import Boundary
from api.errors import NotCancellableError
from api.ledger import lock
from api.settings import Settings
from api.store import AuditRow, ChargeRow
from openapi.models import Audit


def cancel(session: Session, caller: Caller, audit_id: str, settings: Settings) -> Audit:
    """Give the charge back, as long as no worker has begun to read."""
    at = lock(session)
    row = standing.owned(session, caller, audit_id, lock=True)
    if row.state != "charged":
        raise NotCancellableError(f"the audit is {row.state}; a charge stays once data were read")
    give_back(session, at, row, settings)
    boundaries.reached(Boundary.CANCEL_WRITTEN)
    return standing.view(row)


def give_back(session: Session, at: datetime, row: AuditRow, settings: Settings) -> None:
    """Cancel a locked audit that no worker has begun, and refund it."""
    charge = session.exec(select(ChargeRow).where(ChargeRow.audit_id == row.id)).one()
    charging.refund(session, at, charge, settings)
    row.state, row.finished_at = "cancelled", at
    session.add(row)
    session.flush()
