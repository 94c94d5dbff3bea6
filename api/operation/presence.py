"""Processes that tell the database every few seconds that they run, and what they have done.

One that was not heard of for a while has died or hangs. It is forgotten after a day.
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

from api.clock import now
from api.ids import new_id
from api.operation.figures import Figures, Traffic, figures, routes
from api.store import ProcessRow, Store

BEAT = timedelta(seconds=10)
# Not heard of for so long, a process counts as lost.
SILENCE = timedelta(seconds=45)
KEPT = timedelta(days=1)
# What was done in so long a time is recent.
RECENT = timedelta(minutes=15)

log = logging.getLogger(__name__)


@dataclass
class Presence:
    """Tells of this process."""

    store: Store
    serves: bool
    works: bool
    id: str = field(default_factory=lambda: new_id("process"))
    started_at: datetime = field(default_factory=now)
    _past: deque[tuple[datetime, dict[str, Traffic]]] = field(default_factory=deque)

    def run(self, stop: threading.Event) -> None:
        """Until told to stop; then the process is gone, in order."""
        self._safely(self.tell)
        while not stop.wait(BEAT.total_seconds()):
            self._safely(self.tell)
        self._safely(self.leave)

    def tell(self) -> None:
        """Write down that this process runs, and its figures."""
        at, found = now(), routes()
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
            figures=figures(found, self._past[0][1]).model_dump(mode="json"),
        )
        with self.store.write() as session:
            session.exec(delete(ProcessRow).where(col(ProcessRow.seen_at) < at - KEPT))
            session.merge(made)

    def leave(self) -> None:
        with self.store.write() as session:
            session.exec(delete(ProcessRow).where(col(ProcessRow.id) == self.id))

    def _safely(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception:  # the next one may succeed
            log.exception("presence.error")


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


def processes(session: Session) -> list[Process]:
    """All that were heard of within a day, the oldest first."""
    rows = session.exec(select(ProcessRow).order_by(col(ProcessRow.started_at)))
    return [
        Process(row, Figures.model_validate(row.figures), now() - row.seen_at > SILENCE)
        for row in rows
    ]
