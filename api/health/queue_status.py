"""Status of the queue: audits that wait or run, and the results of the last day."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Literal

from sqlmodel import Session, col, select

from api.db import AuditRow, MandateRow
from api.kernel.clock import now
from api.kinds.registry import runs_in_worker

DAY = timedelta(days=1)
_SHOWN = 50
_TIMED = 1_000

Status = Literal["waiting", "held", "running", "paused", "abandoned", "exchanging"]
MEANINGS: dict[Status, str] = {
    "waiting": "paid, and not begun",
    "running": "a worker has claimed it",
    "paused": "continues at a set time, as audits of envy-freeness do",
    "abandoned": "its worker is lost: another one takes over",
    "exchanging": "a two-party audit that waits for its researcher",
    "held": "its mandate is suspended",
}


@dataclass(frozen=True)
class Pending:
    """An audit that has not ended."""

    id: str
    kind: str
    status: Status
    submitted_at: datetime
    attempts: int


@dataclass(frozen=True)
class Queue:
    """Queue of audits; `ended`, `failures` and `seconds`, the median time, are of the last day."""

    by_status: dict[Status, int]
    oldest: datetime | None
    shown: list[Pending]
    ended: dict[str, int]
    failures: dict[str, int]
    seconds: float | None


def read_queue_status(session: Session) -> Queue:
    pending = _pending(session)
    by_status = Counter(each.status for each in pending)
    ended = session.exec(
        select(AuditRow.state, AuditRow.failure, AuditRow.submitted_at, AuditRow.finished_at)
        .where(col(AuditRow.finished_at) > now() - DAY)
        .order_by(col(AuditRow.finished_at).desc())
    ).all()
    times = [
        max(0.0, (finished - submitted).total_seconds())
        for state, _, submitted, finished in ended[:_TIMED]
        if state == "released" and finished
    ]
    return Queue(
        by_status={status: by_status[status] for status in MEANINGS},
        oldest=next((each.submitted_at for each in pending if each.status == "waiting"), None),
        shown=pending[:_SHOWN],
        ended=dict(Counter(state for state, *_ in ended)),
        failures=dict(Counter(failure for _, failure, *_ in ended if failure)),
        seconds=median(times) if times else None,
    )


def _pending(session: Session) -> list[Pending]:
    """Return the audits that have not ended, the oldest first."""
    query = (
        select(AuditRow, MandateRow.state)
        .join(MandateRow, col(MandateRow.id) == AuditRow.mandate_id)
        .where(col(AuditRow.state).in_(("charged", "running")))
        .order_by(col(AuditRow.submitted_at), col(AuditRow.id))
    )
    return [
        Pending(row.id, row.kind, _status(row, mandate), row.submitted_at, row.attempts)
        for row, mandate in session.exec(query)
    ]


def _status(row: AuditRow, mandate: str) -> Status:
    if not runs_in_worker(row.kind):
        return "exchanging"
    if row.state == "charged":
        return "waiting" if mandate == "active" else "held"
    if row.claim is None:
        return "paused"
    return "running" if row.lease_until and row.lease_until > now() else "abandoned"
