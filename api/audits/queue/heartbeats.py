"""Heartbeats: every few seconds each process writes a row with its figures.

A process that was silent for `SILENCE` is dead or hangs. Its row is deleted after a day. The same
write tells `api.telemetry.readiness` whether this process can write to the database.
"""

import logging
import os
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.metadata import version

from sqlmodel import Session, col, delete, select

from api.db import ProcessRow, Store
from api.kernel.clock import now
from api.kernel.ids import new_id
from api.ledger.entries import await_lock
from api.telemetry.metrics import BACKGROUND_WRITES
from api.telemetry.process_counters import Figures, RequestCounts, compute_figures, list_routes
from api.telemetry.readiness import WriteRecord

# Silence after which a process counts as lost.
SILENCE = timedelta(seconds=45)
KEPT = timedelta(days=1)
# Period that the figures call recent.
RECENT = timedelta(minutes=15)

log = logging.getLogger(__name__)


@dataclass
class Heartbeat:
    """Heartbeat of this process, on a thread of its own.

    It calls `refresh` after each successful write; `refresh` may read the database.
    """

    store: Store
    serves: bool
    works: bool
    writes: WriteRecord = field(default_factory=lambda: WriteRecord(5.0))
    refresh: Callable[[], None] = lambda: None
    id: str = field(default_factory=lambda: new_id("process"))
    started_at: datetime = field(default_factory=now)
    _past: deque[tuple[datetime, dict[str, RequestCounts]]] = field(default_factory=deque)

    def run(self, stop: threading.Event) -> None:
        """Beat until `stop` is set, then delete the row of this process."""
        while not stop.wait(self.writes.seconds):
            self.beat()
        self._safely(self.delete_row)

    def beat(self) -> None:
        """Write the row of this process, and record whether that succeeded."""
        succeeded = self._safely(self.write_row)
        self.writes.record(succeeded=succeeded)
        BACKGROUND_WRITES.labels("ok" if succeeded else "failed").inc()
        if succeeded:
            self._safely(self.refresh)

    def write_row(self) -> None:
        """Write the row of this process, with its figures."""
        at, found = now(), list_routes()
        self._past.append((at, found))
        while at - self._past[0][0] > RECENT:
            self._past.popleft()
        made = ProcessRow(
            id=self.id,
            host=socket.gethostname(),
            pid=os.getpid(),
            version=version("platform-auditor"),
            serves=self.serves,
            works=self.works,
            started_at=self.started_at,
            seen_at=at,
            figures=compute_figures(found, self._past[0][1]).model_dump(mode="json"),
        )
        with self.store.write() as session:
            session.exec(delete(ProcessRow).where(col(ProcessRow.seen_at) < at - KEPT))
            session.merge(made)
            session.flush()
            # The lock comes last, so that nobody waits long for it. A process that cannot charge is
            # not ready.
            await_lock(session)

    def delete_row(self) -> None:
        with self.store.write() as session:
            session.exec(delete(ProcessRow).where(col(ProcessRow.id) == self.id))

    def _safely(self, act: Callable[[], None]) -> bool:
        """Call `act`, log what it raises, and return whether it succeeded."""
        try:
            act()
        except Exception:  # the next call may succeed
            log.exception("presence.error")
            return False
        return True


@dataclass(frozen=True)
class Process:
    """A process of this deployment, as the operator sees it."""

    row: ProcessRow
    figures: Figures
    lost: bool

    @property
    def does(self) -> str:
        does = {"answers requests": self.row.serves, "runs audits": self.row.works}
        return " and ".join(words for words, true in does.items() if true)


def list_processes(session: Session) -> list[Process]:
    """Return all processes with a heartbeat within the last day, the oldest first."""
    rows = session.exec(select(ProcessRow).order_by(col(ProcessRow.started_at)))
    return [
        Process(row, Figures.model_validate(row.figures), now() - row.seen_at > SILENCE)
        for row in rows
    ]
