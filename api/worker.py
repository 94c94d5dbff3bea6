"""Workers: any number of threads and processes that run charged audits, one claim at a time.

A claim is a lease with a token. It is renewed while the audit runs; when its holder dies it runs
out, and the next worker resumes the audit on its own charge. A release is committed only by the
holder of the token, so nothing is released twice. An audit that must wait a while is left to the
queue: its lease runs out when it is to go on. Auditors take turns: `api.turns`.
"""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from sqlmodel import Session, and_, col, update

from api import boundaries, housekeeping, ledger, traces, turns
from api.adapters import PlatformDownError
from api.auth.keys import SigningKeys
from api.balances import Borne
from api.boundaries import Boundary
from api.charging import bearers
from api.clock import next_second, now, whole_second
from api.delivery import deliver
from api.journal import AuditJournal, NotMineError, PausedError, StoppedError, forget
from api.metrics import AUDITS
from api.platform import Platform
from api.pricing import facts_of
from api.releases import produce, signed
from api.settings import Settings
from api.store import (
    UNAVAILABLE,
    AudienceRow,
    AuditRow,
    ContentRow,
    Store,
    find,
    find_one,
)
from api.two_party.delivering import settle_all
from api.two_party.timeouts import end_stale
from openapi.models import REQUEST

ATTEMPTS = 5
# An audit that was taken up so often and never finished kills its workers.
CLAIMS = 50
TIDY_SECONDS = 60.0

log = logging.getLogger(__name__)


@dataclass
class Worker:
    store: Store
    platform: Platform
    keys: SigningKeys
    settings: Settings
    # Told which audit is in which state, once that is committed.
    moved: Callable[[str, str], None] = lambda _audit, _state: None
    # What it is at, for whoever must end it meanwhile.
    current: AuditRow | None = None

    def run(self, stop: threading.Event, wake: threading.Event) -> None:
        """Run audits until told to stop; a failing database is waited for, not died of."""
        tidied = None
        while not stop.is_set():
            try:
                if tidied is None or time.monotonic() - tidied > TIDY_SECONDS:
                    housekeeping.tidy(self.store)
                    end_stale(self.store, self.settings)
                    settle_all(self.store, self.platform, self.keys, self.settings)
                    tidied = time.monotonic()
                busy = self.run_one()
            except Exception:  # one bad moment must not end the worker
                log.exception("worker.error")
                busy = False
            if not busy:
                wake.wait(self.settings.poll_seconds)
                wake.clear()

    def run_one(self) -> bool:
        """Run the next audit, if there is one."""
        audit = self.current = self._claim()
        if audit is None:
            return False
        self.moved(audit.id, "running")
        boundaries.reached(Boundary.CLAIMED)
        log.info("audit.running", extra={"audit": audit.id})
        with self._renewing(audit), traces.span("audit", audit=audit.id, kind=audit.kind):
            try:
                fields, body = self._run(audit)
                boundaries.reached(Boundary.SIGNED)
                self._finish(audit, body, fields["model_digest"])
            except PausedError as pause:
                self._leave(audit, pause.until)
            except StoppedError:
                self._give_back(audit, "stopped", for_good=True)
            except NotMineError:
                log.warning("audit.taken_over", extra={"audit": audit.id})
            except PlatformDownError:
                self._give_back(audit, "platform-down")
            except UNAVAILABLE:
                raise  # no attempt of the audit's: it waits for the database, however long
            except Exception:
                log.exception("audit.error", extra={"audit": audit.id})
                self._give_back(audit, "internal")
        self.current = None
        return True

    def park(self) -> None:
        """Leave what it is at to another worker, at once: this one cannot release it any more."""
        if audit := self.current:
            self._leave(audit, now())
            log.warning("audit.parked", extra={"audit": audit.id})

    def _claim(self) -> AuditRow | None:
        with self.store.write() as session:
            audit = turns.take(session, secrets.token_hex(16), self._lease(), self.settings)
        if audit is not None and audit.claims > CLAIMS:
            self._give_back(audit, "internal", for_good=True)
            return None
        return audit

    def _run(self, audit: AuditRow) -> tuple[dict[str, Any], bytes]:
        with self.store.ask() as session:
            request = REQUEST.validate_json(audit.request)
            contents = [find_one(session, ContentRow, id=each) for each in request.content_ids]
            audience = find_one(session, AudienceRow, id=audit.audience_id)
            facts = facts_of(session, audience)
            membership = bearers(session, audit.id, audience)
        cap = Fraction(self.settings.person_lifetime_rho)
        borne = Borne.before(self.store, audit, audience, cap)
        journal = AuditJournal(self.store, audit)
        platform = replace(self.platform, balances=borne, journal=journal)
        fields = produce(audit, contents, audience, facts, membership, platform)
        return fields, signed(fields, whole_second(now()), self.keys.current("receipt"))

    def _finish(self, audit: AuditRow, body: bytes, model: str | None) -> None:
        with self.store.write() as session:
            written = next_second(ledger.lock(session))
            row = self._still_mine(session, audit)
            if row is None:
                return
            if row.stopped:
                raise StoppedError
            deliver(session, row, body, model, self.platform, self.settings, written)
            forget(session, audit.id)
            boundaries.reached(Boundary.RELEASE_WRITTEN)
        boundaries.reached(Boundary.RELEASE_COMMITTED)
        self.moved(audit.id, "released")
        AUDITS.labels(state="released").inc()
        log.info("audit.released", extra={"audit": audit.id})

    def _give_back(self, audit: AuditRow, reason: str, *, for_good: bool = False) -> None:
        """Try again when the lease has run out, and fail after some attempts."""
        with self.store.write() as session:
            written = next_second(ledger.lock(session))
            row = self._still_mine(session, audit)
            if row is None:
                return
            row.attempts += 1
            if for_good or row.attempts >= ATTEMPTS:
                row.state, row.finished_at, row.failure = "failed", whole_second(now()), reason
                forget(session, audit.id)
                facts = {"audit_id": row.id, "reason": reason}
                ledger.append(session, "failure", facts, row.auditor_id, at=written)
                AUDITS.labels(state="failed").inc()
            else:
                row.lease_until, row.claim = self._lease(), None
            session.add(row)
        self.moved(audit.id, row.state)
        log.warning("audit.given_back", extra={"audit": audit.id, "reason": reason})

    def _leave(self, audit: AuditRow, until: datetime) -> None:
        """Somebody goes on with it then, or asks again as soon as any lease would run out."""
        with self.store.write() as session:
            row = self._still_mine(session, audit)
            if row is not None:
                row.lease_until = min(until, now() + turns.LONGEST_LEASE / 2)
                row.claim, row.claims = None, 0
                session.add(row)

    def _still_mine(self, session: Session, audit: AuditRow) -> AuditRow | None:
        mine = {"id": audit.id, "state": "running", "claim": audit.claim}
        return find(session, AuditRow, lock=True, **mine)

    @contextmanager
    def _renewing(self, audit: AuditRow) -> Iterator[None]:
        """Keep the lease alive from a thread, for as long as the block runs."""
        done = threading.Event()

        def renew() -> None:
            while not done.wait(self.settings.lease_seconds / 3):
                try:
                    self._renew(audit)
                except Exception:  # the next renewal may succeed
                    log.exception("lease.error")

        thread = threading.Thread(target=renew, name="lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _renew(self, audit: AuditRow) -> None:
        mine = and_(col(AuditRow.id) == audit.id, col(AuditRow.claim) == audit.claim)
        with self.store.write() as session:
            session.exec(
                update(AuditRow)
                .where(mine, col(AuditRow.state) == "running")
                .values(lease_until=self._lease())
            )

    def _lease(self) -> datetime:
        return now() + timedelta(seconds=self.settings.lease_seconds)
