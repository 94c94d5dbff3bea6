"""Fair queue: auditors alternate, so that nobody waits for all audits of somebody else.

Self-clocked fair queueing: a charged audit gets a position after the auditor's own last unfinished
audit, and not before the audits that run now. It takes as many positions as it has batches of
people. Workers take the lowest position first, and one live worker stays free for other auditors
(docs/explanation/performance.md).

The queue is bounded, for each auditor and in total, and refuses before the charge. Sizes are those
of uploads, never of the people who were found (R2).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    Table,
    bindparam,
    inspect,
    select,
    union_all,
)
from sqlmodel import Session, and_, col, func, or_

from api.audits.queue.heartbeats import SILENCE
from api.db import AuditRow, MandateRow, ProcessRow
from api.kernel.clock import now
from api.kernel.errors import QueueFullError
from api.kernel.settings import Settings
from api.kinds.registry import AudienceFacts, kinds_outside_workers
from privacy.tables.membership import BATCH

# Constant, because a time that follows the queue would reveal how many audits others submit.
RETRY_AFTER_SECONDS = 10
# Longest lease that the settings allow.
LONGEST_LEASE = timedelta(seconds=600)
# The kinds are read when a statement runs, because the kinds of packages are admitted after this
# import.
_OUTSIDE_WORKERS: BindParameter[list[str]] = bindparam(
    "outside_workers", callable_=kinds_outside_workers, expanding=True
)
_RUNS_IN_WORKER = col(AuditRow.kind).not_in(_OUTSIDE_WORKERS)


def waiting_audits() -> ColumnElement[bool]:
    """Return the condition for audits that a worker may begin; those of suspended mandates wait."""
    halted = select(col(MandateRow.id)).where(col(MandateRow.state) != "active")
    return and_(
        col(AuditRow.state) == "charged",
        _RUNS_IN_WORKER,
        col(AuditRow.mandate_id).not_in(halted),
    )


def running_audits() -> ColumnElement[bool]:
    """Return the condition for audits that a worker has claimed."""
    return and_(col(AuditRow.state) == "running", col(AuditRow.claim).is_not(None))


def at_worker_quota(running: Any, most: Any, workers: Any) -> Any:
    """Return whether an auditor has the maximum number of workers, for numbers or for SQL columns.

    The maximum is the setting, at most one fewer than there are workers, and at least one.
    """
    return (running > 0) & ((running >= most) | (running >= workers - 1))


def below_worker_quota() -> ColumnElement[bool]:
    """Return the condition for audits of auditors who may have one more worker."""
    live = and_(col(ProcessRow.works), col(ProcessRow.seen_at) > bindparam("heard"))
    workers = select(func.count()).select_from(ProcessRow).where(live).scalar_subquery()
    taken = (
        select(col(AuditRow.auditor_id))
        .where(running_audits())
        .group_by(col(AuditRow.auditor_id))
        .having(at_worker_quota(func.count(), bindparam("share"), workers))
    )
    return col(AuditRow.auditor_id).not_in(taken)


def abandoned_audits() -> ColumnElement[bool]:
    """Return the condition for audits whose lease has expired.

    A lease that ends later than any lease can comes from a clock that has been turned back since.
    Taking over too early does no harm: only the holder of the claim can release.
    """
    lease = col(AuditRow.lease_until)
    over = or_(lease < bindparam("now"), lease > bindparam("latest"))
    return and_(col(AuditRow.state) == "running", _RUNS_IN_WORKER, over)


_POSITION = col(AuditRow.turn)
_ORDER = (_POSITION, col(AuditRow.submitted_at), col(AuditRow.id))


def _first(*those: ColumnElement[bool]) -> Select[int, datetime, str]:
    """Select the audit at the lowest position that no other worker is taking.

    Each query reads one state in the order of an index. PostgreSQL then skips rows that have left
    that state, and marks them. With two states in one query it would read every row that was in
    either since the last vacuum.
    """
    found = select(*_ORDER).where(*those).order_by(*_ORDER).limit(1)
    return select(found.with_for_update(skip_locked=True).subquery())


# The two queries are combined once at import, because building them takes longer than running them.
# Abandoned audits are finished in any case; waiting audits of a suspended mandate wait until it is
# resumed.
_EITHER = union_all(
    _first(abandoned_audits()), _first(waiting_audits(), below_worker_quota())
).subquery()
_NEXT = select(_EITHER.c.id).order_by(_EITHER.c.turn, _EITHER.c.submitted_at, _EITHER.c.id).limit(1)
_AUDITS = cast("Table", inspect(AuditRow).local_table)
_TAKE = (
    _AUDITS.update()
    .where(_AUDITS.c.id == _NEXT.scalar_subquery())
    .values(
        state="running",
        claim=bindparam("token"),
        claims=_AUDITS.c.claims + 1,
        lease_until=bindparam("until"),
    )
    .returning(*_AUDITS.c)
)
_WAITS, _RUNS = col(AuditRow.state) == "charged", col(AuditRow.state) == "running"
# For each auditor: the number of waiting audits, the last position in service, and the first and
# last of all positions.
_QUEUE = (
    select(
        col(AuditRow.auditor_id),
        func.count().filter(_WAITS).label("waiting"),
        func.max(_POSITION).filter(_RUNS).label("served"),
        func.min(_POSITION).filter(_WAITS).label("first"),
        func.max(_POSITION).label("last"),
    )
    .where(or_(waiting_audits(), running_audits()))
    .group_by(col(AuditRow.auditor_id))
)


def dequeue(
    connection: Connection, claim: str, until: datetime, settings: Settings
) -> AuditRow | None:
    """Return the audit that a worker runs next, claimed with the token `claim`."""
    at = now()
    asked = {
        "token": claim,
        "until": until,
        "now": at,
        "latest": at + LONGEST_LEASE,
        "heard": at - SILENCE,
        "share": settings.running_per_auditor,
    }
    taken = connection.execute(_TAKE, asked).first()
    return AuditRow(**taken._mapping) if taken else None


@dataclass
class QueueSnapshot:
    """State of the queue, as the holder of the ledger lock reads and extends it."""

    settings: Settings
    waiting: dict[str, int]  # by auditor
    last: dict[str, int]  # position of each auditor's last audit
    served: int | None
    first: int | None

    @classmethod
    def load(cls, session: Session, settings: Settings) -> "QueueSnapshot":
        rows = session.connection().execute(_QUEUE).all()
        return cls(
            settings,
            {row.auditor_id: row.waiting for row in rows},
            {row.auditor_id: row.last for row in rows},
            max((row.served for row in rows if row.served is not None), default=None),
            min((row.first for row in rows if row.first is not None), default=None),
        )

    def enqueue(self, auditor_id: str, facts: AudienceFacts) -> int:
        """Return the position of one more audit; raise `QueueFullError` if the queue is full."""
        own = self.waiting.get(auditor_id, 0)
        if own >= self.settings.waiting_per_auditor:
            raise _full(f"{own} of your audits already wait")
        if sum(self.waiting.values()) >= self.settings.waiting_in_all:
            raise _full("too many audits already wait, most of them of other auditors")
        # F = max(v, F of the auditor's last) + length, with v the furthest position in service.
        furthest = self.served if self.served is not None else self.first or 0
        position = max(furthest, self.last.get(auditor_id, 0)) + 1 + facts.members // BATCH
        self.waiting[auditor_id], self.last[auditor_id] = own + 1, position
        self.first = position if self.first is None else min(self.first, position)
        return position


def _full(why: str) -> QueueFullError:
    return QueueFullError(
        f"The queue is full: {why}. Nothing was charged."
        f" Send it again in {RETRY_AFTER_SECONDS} s or later.",
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )
