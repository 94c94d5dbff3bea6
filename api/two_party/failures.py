"""Two-party audits that end without a release. The charge stays, and the ledger states the reason.

The reasons are stable words:

- `opened`: a regulator opened the run and stated a finding;
- `timed-out`: nobody continued the run;
- `wrong-proof`: the auditor returned the platform's candidates under another key than it had
  committed to;
- `internal`: the run raised after noise was drawn, or its people are not those of its charge.

A wrong proof is final for the audit, even if another run has replaced the run it came from. After
the draw of noise every exception is final, except of a run that was replaced, or whose database is
unavailable. docs/explanation/guarantee.md, "One draw of noise per charge", says why.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Protocol

from sqlmodel import Session, col, select

from api import ledger
from api.audits import final_failures
from api.audits.states import OPEN, change_state
from api.db import UNAVAILABLE, AuditRow, RunRow, Store
from api.kernel.clock import next_second, now, whole_second
from api.kernel.errors import BeginAgainError, ConflictError
from api.telemetry.metrics import AUDITS
from privacy.two_party.errors import MessageError

WRONG_PROOF, INTERNAL = "wrong-proof", "internal"

log = logging.getLogger(__name__)


class Drawing(Protocol):
    """Attributes of the platform's half of a run that failures use."""

    audit: AuditRow
    run: str
    drawn: bool


@contextmanager
def final_once_drawn(store: Store, half: Drawing) -> Iterator[None]:
    """Fail the audit of this half if its run raises after noise was drawn."""
    try:
        yield
    except (MessageError, BeginAgainError, *UNAVAILABLE):
        raise
    except Exception as error:
        if not half.drawn:
            raise
        log.exception("two-party.error", extra={"audit": half.audit.id})
        audit, run = half.audit.id, half.run
        final_failures.mark(store, audit, lambda: fail_run(store, audit, run, INTERNAL))
        final_failures.finish(audit)
        raise _after_the_draw() from error


def finish_failed(audit_id: str) -> None:
    """Commit the failure of an audit that is marked, and refuse its message."""
    if final_failures.finish(audit_id):
        raise _after_the_draw()


def _after_the_draw() -> ConflictError:
    return ConflictError(
        "The audit has failed after its noise was drawn. Its charge is kept.", state="failed"
    )


def fail(session: Session, at: datetime, audit: AuditRow, reason: str) -> None:
    """End the audit for this reason, in one transaction with its ledger entry.

    Audit and ledger must be locked. Nobody is refunded.
    """
    change_state(audit, "failed")
    audit.finished_at, audit.failure = whole_second(now()), reason
    facts = {"audit_id": audit.id, "reason": reason}
    ledger.append(session, "failure", facts, audit.auditor_id, at=at)
    session.add(audit)
    AUDITS.labels(state="failed").inc()


def fail_run(store: Store, audit_id: str, run: str | None, reason: str) -> bool:
    """Fail the audit if this run may still answer; return whether it failed.

    With `run=None`, fail it whichever run is current, except if one was answered.
    """
    with store.write() as session:
        at = next_second(ledger.lock(session))
        query = select(AuditRow).where(AuditRow.id == audit_id, col(AuditRow.state).in_(OPEN))
        current = lock_run(session, audit_id, run)
        audit = session.exec(query.with_for_update()).first()
        if current is None or audit is None:
            return False
        fail(session, at, audit, reason)
        return True


def lock_run(session: Session, audit_id: str, run: str | None) -> RunRow | None:
    """Return the run that may answer, locked, if it has this name (or any name, for None)."""
    row = session.exec(select(RunRow).where(RunRow.audit_id == audit_id).with_for_update()).first()
    if row is None or row.answered_at is not None:
        return None
    return row if run in (None, row.run) else None
