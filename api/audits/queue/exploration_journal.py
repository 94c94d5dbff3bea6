"""Journal of an audit that explores: the steps that it has done so far, in the database.

Only the worker that holds the audit's claim writes it. So a worker that was presumed dead cannot
undo the steps of its successor. On each write, the worker learns whether the audit was stopped.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam
from sqlmodel import Session, col, delete, select

from api.db import AuditRow, CourseRow, Store
from api.kernel.clock import now

# Longest wait within a worker. During a longer wait the audit is back in the queue, so that other
# audits run.
PATIENCE = timedelta(seconds=0.25)

_FORGET = delete(CourseRow).where(col(CourseRow.audit_id).in_(bindparam("audits", expanding=True)))


class PausedError(Exception):
    """The audit has to wait, and continues at the time `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__(until)
        self.until = until


class StoppedError(Exception):
    """A regulator or an operator stopped the audit."""


class LeaseLostError(Exception):
    """Another worker has claimed the audit."""


@dataclass(frozen=True)
class AuditJournal:
    store: Store
    audit: AuditRow

    @property
    def course(self) -> str:
        return self.audit.id

    def read(self) -> bytes | None:
        with self.store.read() as session:
            row = session.get(CourseRow, self.audit.id)
            return row.state if row else None

    def write(self, state: bytes) -> None:
        """Commit the state. Progress resets the count of attempts."""
        with self.store.write() as session:
            audit = self._mine(session)
            audit.attempts, audit.claims = 0, 1
            course = session.get(CourseRow, audit.id) or self._begun(session)
            course.state = state
            session.add_all([audit, course])

    def wait_until(self, seconds: float, state: Callable[[], bytes]) -> None:
        due = self._begins() + timedelta(seconds=seconds)
        if due - now() > PATIENCE:
            self.write(state())
            raise PausedError(due)
        time.sleep(max((due - now()).total_seconds(), 0))

    def _begins(self) -> datetime:
        with self.store.write() as session:
            self._mine(session)
            course = session.get(CourseRow, self.audit.id) or self._begun(session)
            return course.begun_at

    def _begun(self, session: Session) -> CourseRow:
        course = CourseRow(audit_id=self.audit.id, begun_at=now())
        session.add(course)
        return course

    def _mine(self, session: Session) -> AuditRow:
        query = select(AuditRow).where(
            AuditRow.id == self.audit.id,
            AuditRow.state == "running",
            AuditRow.claim == self.audit.claim,
        )
        row = session.exec(query.with_for_update()).first()
        if row is None:
            raise LeaseLostError
        if row.stopped:
            raise StoppedError
        return row


def purge_journals(session: Session, *audit_ids: str) -> None:
    """Drop the journals of audits that have ended."""
    session.connection().execute(_FORGET, {"audits": list(audit_ids)})
