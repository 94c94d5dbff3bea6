"""Timeouts of two-party audits that nobody continues: they end, and free their audience.

An audit that has read nothing is refunded like one that its auditor cancelled. An audit that has
read, and whose answer was never committed, fails, and its charge stays.
"""

from datetime import datetime, timedelta

from sqlmodel import Session, col, select

from api import ledger
from api.audits import cancellation
from api.audits.states import OPEN
from api.db import AuditRow, RunRow, Store
from api.kernel.clock import now
from api.kernel.settings import Settings
from api.kinds.two_party import NAME
from api.two_party.failures import fail

FAILURE = "timed-out"


def end_stale_runs(store: Store, settings: Settings) -> None:
    oldest = now() - timedelta(hours=settings.two_party_hours)
    answered = select(RunRow.audit_id).where(col(RunRow.answered_at).is_not(None))
    stale = (
        col(AuditRow.kind) == NAME,
        col(AuditRow.state).in_(OPEN),
        col(AuditRow.submitted_at) < oldest,
        col(AuditRow.id).not_in(answered),
    )
    with store.read() as session:
        found = session.exec(select(AuditRow.id).where(*stale).limit(100)).all()
    for audit_id in found:
        with store.write() as session:
            at = ledger.lock(session)
            query = select(AuditRow).where(AuditRow.id == audit_id, *stale).with_for_update()
            if (audit := session.exec(query).first()) is not None:
                _end(session, at, audit, settings)


def _end(session: Session, at: datetime, audit: AuditRow, settings: Settings) -> None:
    if audit.state == "charged":
        cancellation.give_back(session, at, audit, settings)
        return
    fail(session, at, audit, FAILURE)
