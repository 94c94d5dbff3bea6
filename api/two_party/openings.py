"""Openings: a regulator fetches a stored run, opens it elsewhere, and states the findings.

The platform cannot open a run, because its key is sealed to the regulator. A run with findings is
never delivered, and its charge stays. A run that was delivered before can be opened too, for the
record.
"""

from collections.abc import Iterator

from sqlmodel import Session, col, select

from api import ledger
from api.db import AuditRow, MandateRow, MessageRow, RunRow, Store
from api.kernel.errors import ConflictError, ForbiddenError, NotFoundError
from api.two_party.delivery import Awaited, find_draw, lock_answered_audit
from api.two_party.failures import fail
from openapi.resources import OpeningDraft, StoredRun
from privacy.ledger.statements import Statement

FAILURE = "opened"


def get_stored_run(session: Session, audit_id: str) -> StoredRun:
    audit, run = session.get(AuditRow, audit_id), session.get(RunRow, audit_id)
    if audit is None or run is None or run.answered_at is None:
        raise NotFoundError(f"No two-party run of {audit_id} has been answered.")
    return to_wire(session, audit, run)


def list_waiting_runs(session: Session) -> list[StoredRun]:
    """Return the runs that were answered and not delivered, the oldest first."""
    query = (
        select(AuditRow, RunRow)
        .join(RunRow, col(RunRow.audit_id) == col(AuditRow.id))
        .where(AuditRow.state == "running", col(RunRow.answered_at).is_not(None))
        .order_by(col(RunRow.answered_at))
        .limit(1_000)
    )
    return [to_wire(session, audit, run) for audit, run in session.exec(query)]


def stream_messages(store: Store, audit_id: str) -> Iterator[bytes]:
    """Yield all messages of a run in order, each after its length (four bytes, big-endian)."""
    number = 0
    while True:
        with store.read() as session:
            row = session.get(MessageRow, (audit_id, number))
        if row is None:
            return
        yield len(row.body).to_bytes(4, "big") + row.body
        number += 1


def state_opening(session: Session, draft: OpeningDraft, statement: Statement) -> StoredRun:
    """Record the findings of an opening; an audit with findings ends without a release."""
    at = ledger.lock(session)
    audit, run = lock_answered_audit(session, draft.audit_id)
    mandate = session.get_one(MandateRow, audit.mandate_id)
    if statement.by != mandate.granted_by:
        raise ForbiddenError(
            f"The run is sealed to {mandate.granted_by}. Nobody else can open it.",
            case="sealed-to-another",
        )
    if draft.transcript != run.transcript:
        raise ConflictError(
            "This is not the transcript of the run that was answered.", case="another-transcript"
        )
    ledger.append(session, "opening", {}, audit.auditor_id, statement, at=at)
    if not draft.findings:
        run.opened = True
    elif audit.state == "running":
        fail(session, at, audit, FAILURE)
    session.add_all([audit, run])
    session.flush()
    return to_wire(session, audit, run)


def to_wire(session: Session, audit: AuditRow, run: RunRow) -> StoredRun:
    awaited: Awaited | None = None
    if audit.state == "running":
        awaited = find_draw(session, audit, run).awaited
    last = select(MessageRow.number).where(MessageRow.audit_id == audit.id)
    count = session.exec(last.order_by(col(MessageRow.number).desc()).limit(1)).first()
    return StoredRun.model_validate(
        {
            "audit_id": audit.id,
            "auditor_id": audit.auditor_id,
            "regulator_id": session.get_one(MandateRow, audit.mandate_id).granted_by,
            "sealed_to": run.sealed_to,
            "terms": run.terms,
            "transcript": run.transcript,
            "messages": 0 if count is None else count + 1,
            "answered_at": run.answered_at,
            "awaited": awaited,
        }
    )
