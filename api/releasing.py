"""Releases are committed by the holder of the claim alone, and nothing is released twice.

Those of several workers of a process that wait for the books are committed together.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from api import boundaries
from api.boundaries import Boundary
from api.clock import next_second
from api.delivery import Delivery, deliver
from api.journal import StoppedError, forget
from api.ledger import lock
from api.platform import Platform
from api.settings import Settings
from api.store import UNAVAILABLE, AuditRow, Store
from api.together import Together

# So many are committed together at most.
_TOGETHER = 16
_MINE = (
    select(AuditRow)
    .where(
        col(AuditRow.id).in_(bindparam("audits", expanding=True)),
        col(AuditRow.claim).in_(bindparam("claims", expanding=True)),
        AuditRow.state == "running",
    )
    .with_for_update()
    .execution_options(populate_existing=True)
)


_Books = tuple[Session, datetime]


@dataclass(frozen=True, eq=False)
class _Finished:
    """An audit as it was claimed, and its release."""

    audit: AuditRow
    body: bytes
    model: str | None


class Releasing:
    """Commits what workers of this process have made."""

    def __init__(self, store: Store, platform: Platform, settings: Settings) -> None:
        self._store, self._platform, self._settings = store, platform, settings
        self._commit = Together(self._books, self._released, _joins, hopeless=UNAVAILABLE)

    def release(self, audit: AuditRow, body: bytes, model: str | None) -> bool:
        """Release a claimed audit, unless somebody else has it by now: then False."""
        return self._commit(_Finished(audit, body, model))

    @contextmanager
    def _books(self) -> Iterator[_Books]:
        """The books, locked at a moment that may be shown; what is written is committed."""
        with self._store.write() as session:
            yield session, next_second(lock(session))
            boundaries.reached(Boundary.RELEASE_WRITTEN)

    def _released(self, books: _Books, some: Sequence[_Finished]) -> list[bool]:
        session, at = books
        mine = still_mine(session, [each.audit for each in some])
        if any(row.stopped for row in mine.values()):
            raise StoppedError
        deliveries = [
            Delivery(mine[each.audit.id], each.body, each.model)
            for each in some
            if each.audit.id in mine
        ]
        if deliveries:
            deliver(session, deliveries, self._platform, self._settings, at)
            forget(session, mine)
        return [each.audit.id in mine for each in some]


def still_mine(session: Session, audits: Collection[AuditRow]) -> dict[str, AuditRow]:
    """Those of these claimed audits that run by the same claim, locked, by their names."""
    asked = {"audits": [each.id for each in audits], "claims": [each.claim for each in audits]}
    return {row.id: row for row in session.exec(_MINE, params=asked)}


def _joins(_: _Finished, others: Sequence[_Finished]) -> bool:
    return len(others) < _TOGETHER
