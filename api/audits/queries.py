"""Where audits stand, as their own auditor sees them: another auditor's is not there."""

from collections.abc import Collection

from sqlalchemy import Connection, bindparam
from sqlmodel import Session, col, select

from api.db import AuditRow, Store, find
from api.identity.caller import Caller
from api.kernel.errors import NotFoundError
from openapi.resources import REQUEST, Audit, AuditRequest, Price

_STATES = select(AuditRow.id, AuditRow.state).where(
    col(AuditRow.id).in_(bindparam("audits", expanding=True))
)
_STATE = select(AuditRow.state).where(
    AuditRow.id == bindparam("audit"), AuditRow.auditor_id == bindparam("auditor")
)


def owned(session: Session, caller: Caller, audit_id: str, *, lock: bool = False) -> AuditRow:
    """The auditor's own audit."""
    row = find(session, AuditRow, lock=lock, id=audit_id, auditor_id=caller.auditor)
    if row is None:
        raise NotFoundError(f"no audit {audit_id}")
    return row


def states(store: Store, audit_ids: Collection[str]) -> dict[str, str]:
    """Where these audits stand, whosever they are."""
    with store.look() as connection:
        return {
            row.id: row.state for row in connection.execute(_STATES, {"audits": list(audit_ids)})
        }


def state(connection: Connection, caller: Caller, audit_id: str) -> str:
    """Where the auditor's own audit stands."""
    asked = {"audit": audit_id, "auditor": caller.auditor}
    if (found := connection.execute(_STATE, asked).scalar()) is None:
        raise NotFoundError(f"no audit {audit_id}")
    return str(found)


def view(row: AuditRow, request: AuditRequest | None = None, price: Price | None = None) -> Audit:
    """The audit as it is shown; request and price are read from the row where they are not here."""
    return Audit(
        id=row.id,
        kind=row.kind,
        state=row.state,
        mandate_id=row.mandate_id,
        request=request or REQUEST.validate_json(row.request),
        price=price or Price.model_validate_json(row.price),
        submitted_at=row.submitted_at,
        finished_at=row.finished_at,
        failure=row.failure,
    )
