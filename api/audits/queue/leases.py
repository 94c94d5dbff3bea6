"""Claims: a worker holds an audit by a token, until a lease expires, which the worker renews.

If the worker dies, the lease expires, and the next worker resumes the audit on its own charge. Only
the holder of the token can release, so that nothing is released twice. An audit that has to wait
goes back to the queue: its lease expires when it is to continue.
"""

import logging
import secrets
import threading
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import bindparam, select
from sqlalchemy.orm import defer
from sqlmodel import Session, col

from api.audits.queue import fair_queue
from api.db import AuditRow, Store, change_all
from api.kernel.clock import now
from api.kernel.settings import Settings

# Rows are always locked in the same order. Request and price are not read.
_RUNNING = (
    select(AuditRow)
    .options(
        defer(cast("Any", AuditRow.request), raiseload=True),
        defer(cast("Any", AuditRow.price), raiseload=True),
    )
    .where(
        col(AuditRow.id).in_(bindparam("audits", expanding=True)),
        col(AuditRow.state) == "running",
    )
    .order_by(col(AuditRow.id))
    .execution_options(populate_existing=True)
)
_LOCKED = _RUNNING.with_for_update()
_FREE = _RUNNING.with_for_update(skip_locked=True)

log = logging.getLogger(__name__)


def claim_next(store: Store, settings: Settings) -> AuditRow | None:
    """Return the next audit of the queue, claimed; return None if there is none."""
    with store.write_once() as connection:
        return fair_queue.dequeue(
            connection, secrets.token_hex(16), lease_expiry(settings), settings
        )


def lease_expiry(settings: Settings) -> datetime:
    """Return the expiry of a lease that begins or is renewed now."""
    return now() + timedelta(seconds=settings.lease_seconds)


def still_held(
    session: Session, audits: Sequence[AuditRow], *, wait: bool = True
) -> list[AuditRow]:
    """Return those of these audits whose claim is unchanged, locked.

    With `wait=False`, skip rows that another transaction has locked.
    """
    claims = {audit.id: audit.claim for audit in audits}
    rows = session.scalars(_LOCKED if wait else _FREE, {"audits": list(claims)})
    return [row for row in rows if row.claim == claims[row.id]]


def release_lease(store: Store, audits: Sequence[AuditRow], until: datetime) -> None:
    """Give up the claims of these audits until `until`, or at most half the longest lease."""
    latest = now() + fair_queue.LONGEST_LEASE / 2
    left = {"lease_until": min(until, latest), "claim": None, "claims": 0}
    with store.write() as session:
        change_all(session, [(row, left) for row in still_held(session, audits)])


def renew(store: Store, settings: Settings, audits: Sequence[AuditRow]) -> None:
    """Renew the leases of these audits, except those that are being released."""
    longer = {"lease_until": lease_expiry(settings)}
    with store.write() as session:
        change_all(session, [(row, longer) for row in still_held(session, audits, wait=False)])


class Leases:
    """Leases of all audits under way. One thread renews them, and ends when there are none."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store, self._settings = store, settings
        self._guard = threading.Lock()
        self._kept: dict[str, AuditRow] = {}
        self._alive = False

    @property
    def tracked(self) -> list[AuditRow]:
        with self._guard:
            return list(self._kept.values())

    def track(self, audit: AuditRow) -> None:
        with self._guard:
            self._kept[audit.id] = audit
            if not self._alive:
                threading.Thread(target=self._run, name="leases", daemon=True).start()
                self._alive = True

    def untrack(self, *audits: AuditRow) -> None:
        """Stop renewing these claims; another claim on the same audit stays."""
        with self._guard:
            for audit in audits:
                kept = self._kept.get(audit.id)
                if kept is not None and kept.claim == audit.claim:
                    del self._kept[audit.id]

    def _run(self) -> None:
        while audits := self._after_a_while():
            try:
                renew(self._store, self._settings, audits)
            except Exception:  # the next renewal may succeed
                log.exception("lease.error")

    def _after_a_while(self) -> list[AuditRow]:
        time.sleep(self._settings.lease_seconds / 3)
        with self._guard:
            self._alive = bool(self._kept)
            return list(self._kept.values())
