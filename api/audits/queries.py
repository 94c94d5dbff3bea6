"""Queries of audits by their own auditor. For all others, the audit does not exist."""

from collections.abc import Collection

from sqlalchemy import Connection, Row, bindparam
from sqlmodel import Session, col, select

from api.db import AuditRow, EntryRow, ReleaseRow, Store, find
from api.identity.caller import Caller
from api.kernel import failpoints
from api.kernel.errors import NotFoundError, NotReleasedError
from api.kernel.failpoints import Failpoint
from api.ledger import proofs
from api.web.pagination import page
from openapi.resources import RECORDED_REQUEST, Audit, AuditRequest, InclusionProof, Page, Price

_STATES = select(AuditRow.id, AuditRow.state).where(
    col(AuditRow.id).in_(bindparam("audits", expanding=True))
)
_STATE = select(AuditRow.state).where(
    AuditRow.id == bindparam("audit"), AuditRow.auditor_id == bindparam("auditor")
)
# The state of an auditor's audit, and its release if there is one.
_RELEASE = (
    select(AuditRow.state, ReleaseRow.body, ReleaseRow.entry)
    .outerjoin(ReleaseRow, col(ReleaseRow.audit_id) == col(AuditRow.id))
    .where(AuditRow.id == bindparam("audit"), AuditRow.auditor_id == bindparam("auditor"))
)


def list_audits(
    session: Session, caller: Caller, cursor: str | None = None, limit: int = 50
) -> Page[Audit]:
    """Return the audits of the caller's auditor, newest first."""
    mine = select(AuditRow).where(AuditRow.auditor_id == caller.auditor)
    return page(session, mine, AuditRow.id, to_wire, cursor, limit)


def get_audit(session: Session, caller: Caller, audit_id: str) -> Audit:
    """Return one audit of the caller's auditor."""
    return to_wire(get_owned(session, caller, audit_id))


def get_release(store: Store, caller: Caller, audit_id: str) -> bytes:
    """Return the release of an audit: always the same bytes."""
    with store.autocommit_connection() as connection:
        body: bytes = _released(connection, caller, audit_id).body
    failpoints.hit(Failpoint.BEFORE_SEND)
    return body


def prove_release(session: Session, caller: Caller, audit_id: str) -> InclusionProof:
    """Prove that the newest checkpoint of the ledger covers the release."""
    release = _released(session.connection(), caller, audit_id)
    return proofs.prove_inclusion(session, session.get_one(EntryRow, release.entry))


def get_owned(session: Session, caller: Caller, audit_id: str, *, lock: bool = False) -> AuditRow:
    """Return an audit of the caller's auditor, or raise `NotFoundError`."""
    row = find(session, AuditRow, lock=lock, id=audit_id, auditor_id=caller.auditor)
    if row is None:
        raise NotFoundError(f"no audit {audit_id}")
    return row


def load_states(store: Store, audit_ids: Collection[str]) -> dict[str, str]:
    """Return the states of these audits, of any auditor."""
    with store.autocommit_connection() as connection:
        return {
            row.id: row.state for row in connection.execute(_STATES, {"audits": list(audit_ids)})
        }


def load_state(connection: Connection, caller: Caller, audit_id: str) -> str:
    """Return the state of the auditor's own audit."""
    asked = {"audit": audit_id, "auditor": caller.auditor}
    if (found := connection.execute(_STATE, asked).scalar()) is None:
        raise NotFoundError(f"no audit {audit_id}")
    return str(found)


def to_wire(
    row: AuditRow, request: AuditRequest | None = None, price: Price | None = None
) -> Audit:
    """Return the audit in its wire form.

    Read the request and the price from the row if not given.
    """
    return Audit(
        id=row.id,
        kind=row.kind,
        state=row.state,
        mandate_id=row.mandate_id,
        request=request or RECORDED_REQUEST.validate_json(row.request),
        price=price or Price.model_validate_json(row.price),
        submitted_at=row.submitted_at,
        finished_at=row.finished_at,
        failure=row.failure,
    )


def _released(connection: Connection, caller: Caller, audit_id: str) -> Row[str, bytes, int]:
    found = connection.execute(_RELEASE, {"audit": audit_id, "auditor": caller.auditor}).first()
    if found is None:
        raise NotFoundError(f"no audit {audit_id}")
    if found.body is None:
        raise NotReleasedError(f"The audit is {found.state}. Fetch the release later.")
    return found
