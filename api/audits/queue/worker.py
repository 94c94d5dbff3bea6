"""Workers: any number of threads and processes that run charged audits, one claim at a time.

A worker claims an audit, runs it, and hands the release to a thread that commits it
(`api.audits.queue.background_batcher`). Meanwhile it claims the next audit.

Noise is drawn once on a charge. An attempt that fails before the draw is tried again. After the
draw a failure is final, and the charge is kept. If the database is unavailable, the same release is
offered to it again for a while. A failure that cannot be committed at once is remembered until it
is (`api.audits.final_failures`). docs/explanation/guarantee.md lists the cases in which noise is
drawn again, and says why none of them depends on the draw.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import partial

from sqlmodel import Session

from api import ledger
from api.accounting.balances import SpentBalances
from api.accounting.people_digest import UnboundPeopleError
from api.audits import final_failures, job
from api.audits.publication import FinishedRun, publish
from api.audits.queue import leases
from api.audits.queue.background_batcher import BackgroundBatcher
from api.audits.queue.exploration_journal import (
    AuditJournal,
    LeaseLostError,
    PausedError,
    StoppedError,
    purge_journals,
)
from api.audits.queue.leases import Leases
from api.audits.release import Reduced, draw, reduce, sign_release
from api.audits.states import change_state
from api.db import UNAVAILABLE, AuditRow, Store
from api.identity.signing_keys import SigningKeys
from api.kernel import failpoints
from api.kernel.clock import next_second, now, whole_second
from api.kernel.failpoints import Failpoint
from api.kernel.settings import Settings
from api.kinds.context import AuditContext, Engine
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Platform
from api.platforms.public_pace import ReleasePace
from api.telemetry import tracing
from api.telemetry.metrics import AUDITS

MAX_ATTEMPTS = 5
# Number of claims without an end, after which the audit fails: it seems to kill its workers.
MAX_CLAIMS = 50
TASK_INTERVAL_SECONDS = 60.0
# Releases that may wait for their commit; while there are as many, no audit is claimed.
MAX_PENDING_RELEASES = 16
# Seconds for which the same release is offered to an unavailable database, and the first pause.
COMMIT_SECONDS = 2.0
COMMIT_PAUSE_SECONDS = 0.05

log = logging.getLogger(__name__)


class DrawnError(Exception):
    """A failure after noise was drawn, with its cause: the audit is not tried again."""


@dataclass
class Worker:
    store: Store
    platform: Platform
    keys: SigningKeys
    settings: Settings
    engine: Engine
    # Called with an audit and its state, after the commit.
    on_state_change: Callable[[str, str], None] = lambda _audit, _state: None
    # Called once a minute, between two audits.
    tasks: Sequence[Callable[[], None]] = ()

    def __post_init__(self) -> None:
        self.pace = ReleasePace(self.settings)
        # Leases of the present audit, and of those whose releases are not committed yet.
        self.leases = Leases(self.store, self.settings)

    def run(self, stop: threading.Event, wake: threading.Event) -> None:
        """Run audits until `stop` is set; wait for a database that fails."""
        tidied = None
        with BackgroundBatcher(self._release, MAX_PENDING_RELEASES, "releases") as releases:
            while not stop.is_set():
                try:
                    if tidied is None or time.monotonic() - tidied > TASK_INTERVAL_SECONDS:
                        for task in self.tasks:
                            task()
                        tidied = time.monotonic()
                    # After a commit its auditor may have one more worker, even if nothing could be
                    # claimed meanwhile.
                    under_way = bool(self.leases.tracked)
                    busy = self._run_next(releases.submit) or releases.drain() or under_way
                except Exception:  # one error must not end the worker
                    log.exception("worker.error")
                    busy = False
                if not busy:
                    wake.wait(self.settings.poll_seconds)
                    wake.clear()

    def run_one(self) -> bool:
        """Run the next audit until its release is committed; return whether there was one."""
        return self._run_next(lambda made: self._release([made]))

    def hand_over(self) -> None:
        """Give up all present audits at once, for another worker.

        This one can no longer release them.
        """
        if audits := self.leases.tracked:
            leases.release_lease(self.store, audits, now())
            for audit in audits:
                log.warning("audit.parked", extra={"audit": audit.id})

    def _run_next(self, release: Callable[[FinishedRun], None]) -> bool:
        """Run the next audit and submit its result; return whether there was an audit."""
        final_failures.finish_all(self.store)
        audit = self._claim()
        if audit is None:
            return False
        made = None
        try:
            self.leases.track(audit)
            self.on_state_change(audit.id, "running")
            failpoints.hit(Failpoint.CLAIMED)
            log.info("audit.running", extra={"audit": audit.id})
            made = self._run(audit)
        finally:
            if made is None:
                self.leases.untrack(audit)
        if made is not None:
            release(made)
        return True

    def _claim(self) -> AuditRow | None:
        audit = leases.claim_next(self.store, self.settings)
        if audit is not None and audit.claims > MAX_CLAIMS:
            self._give_back(audit, "internal", for_good=True)
            return None
        return audit

    def _run(self, audit: AuditRow) -> FinishedRun | None:
        """Run the audit; return its result, or None after handling its failure."""
        try:
            with tracing.span("audit", audit=audit.id, kind=audit.kind):
                return self._execute(audit)
        except UNAVAILABLE:
            raise  # not an attempt of this audit: it waits for the database, without limit
        except Exception as error:
            self._failed(audit, error)
            return None

    def _execute(self, audit: AuditRow) -> FinishedRun:
        begun = self.pace.clock()
        reduced = self._reduce(audit)
        key = self.keys.current("receipt")  # the first key is written to the store
        if final_failures.is_marked(audit.id):
            raise DrawnError
        try:
            fields = draw(reduced)
            body = sign_release(fields, whole_second(now()), key)
            failpoints.hit(Failpoint.SIGNED)
            due = self.pace.due(begun, audit.kind, reduced.work.facts.members)
            return FinishedRun(audit, body, fields["model_digest"], reduced.scoring, due=due)
        except Exception as error:
            raise DrawnError from error

    def _reduce(self, audit: AuditRow) -> Reduced:
        with self.store.autocommit_session() as session:
            work, membership = job.load_job(session, audit, self.settings)
        cap = Fraction(self.settings.person_lifetime_rho)
        spent = SpentBalances.as_of_charge(self.store, work.price, work.audience, cap)
        journal = AuditJournal(self.store, audit)
        context = AuditContext(self.platform, self.engine, spent, journal)
        return reduce(work, membership, context)

    def _release(self, some: Sequence[FinishedRun]) -> None:
        """Commit these releases in one transaction; if that fails, commit each in its own."""
        self.pace.wait(max(made.due for made in some))
        try:
            _until_available(lambda: self._commit(some))
        except UNAVAILABLE:
            raise
        except Exception as error:
            if len(some) > 1:
                self._release_each(some, error)
            elif isinstance(error, LeaseLostError | StoppedError):
                self._failed(some[0].audit, error)
            else:
                self._fail_drawn(some[0].audit, error)
        finally:
            self.leases.untrack(*(made.audit for made in some))

    def _release_each(self, some: Sequence[FinishedRun], error: Exception) -> None:
        """Release audits one by one, after `error` prevented their common commit.

        Any of their draws may have caused the error. So if the database is unavailable now, they
        fail.
        """
        for index, made in enumerate(some):
            try:
                self._release([made])
            except UNAVAILABLE:
                if not isinstance(error, LeaseLostError | StoppedError):
                    for each in some[index:]:
                        self._mark(each.audit)
                raise
            except Exception:  # this audit is marked; the others are released
                log.exception("audit.error", extra={"audit": made.audit.id})

    def _commit(self, some: Sequence[FinishedRun]) -> None:
        audits = [made.audit for made in some]
        with self.store.write() as session:
            written = next_second(ledger.lock(session))
            rows = leases.still_held(session, audits)
            if len(rows) < len(audits):
                raise LeaseLostError
            if any(row.stopped for row in rows):
                raise StoppedError
            publish(session, some, self.settings, written)
            purge_journals(session, *(audit.id for audit in audits))
            failpoints.hit(Failpoint.RELEASE_WRITTEN)
        failpoints.hit(Failpoint.RELEASE_COMMITTED)
        AUDITS.labels(state="released").inc(len(audits))
        for audit in audits:
            self.on_state_change(audit.id, "released")
            log.info("audit.released", extra={"audit": audit.id})

    def _failed(self, audit: AuditRow, error: Exception) -> None:
        """Handle an audit that produced no result, by its error."""
        match error:
            case PausedError():
                leases.release_lease(self.store, [audit], error.until)
            case StoppedError():
                self._give_back(audit, "stopped", for_good=True)
            case LeaseLostError():
                log.warning("audit.taken_over", extra={"audit": audit.id})
            case DrawnError():
                self._fail_drawn(audit, error.__cause__ or error)
            case PlatformDownError():
                self._give_back(audit, "platform-down")
            case UnboundPeopleError():
                log.error("charge.unbound", extra={"audit": audit.id})
                self._give_back(audit, "internal", for_good=True)
            case _:
                log.error("audit.error", extra={"audit": audit.id}, exc_info=error)
                self._give_back(audit, "internal")

    def _fail_drawn(self, audit: AuditRow, error: BaseException) -> None:
        """End an audit whose noise was drawn: another draw could depend on the first (R3)."""
        log.error("audit.error", extra={"audit": audit.id, "drawn": True}, exc_info=error)
        self._mark(audit)
        final_failures.finish(audit.id)

    def _mark(self, audit: AuditRow) -> None:
        """Mark that the audit must fail, until that is committed."""
        write = partial(_until_available, lambda: self._end_drawn(audit))
        final_failures.mark(self.store, audit.id, write)

    def _end_drawn(self, audit: AuditRow) -> None:
        """Fail an audit whichever worker holds it: nobody may draw on its charge any more."""
        with self.store.write() as session:
            written = next_second(ledger.lock(session))
            row = session.get(AuditRow, audit.id, with_for_update=True)
            if row is None or row.state != "running":
                return
            row.attempts += 1
            _end(session, row, "internal", written)
        self._told(row, "internal")

    def _give_back(self, audit: AuditRow, reason: str, *, for_good: bool = False) -> None:
        """Return the audit to the queue until its lease expires; fail it after `MAX_ATTEMPTS`."""
        with self.store.write() as session:
            written = next_second(ledger.lock(session))
            rows = leases.still_held(session, [audit])
            if not rows:
                return
            [row] = rows
            row.attempts += 1
            if for_good or row.attempts >= MAX_ATTEMPTS:
                _end(session, row, reason, written)
            else:
                row.lease_until, row.claim = leases.lease_expiry(self.settings), None
            session.add(row)
        self._told(row, reason)

    def _told(self, row: AuditRow, reason: str) -> None:
        self.on_state_change(row.id, row.state)
        log.warning("audit.given_back", extra={"audit": row.id, "reason": reason})


def _end(session: Session, row: AuditRow, reason: str, written: datetime) -> None:
    """Fail an audit finally, in one transaction with its ledger entry."""
    change_state(row, "failed")
    row.finished_at, row.failure = whole_second(now()), reason
    purge_journals(session, row.id)
    facts = {"audit_id": row.id, "reason": reason}
    ledger.append(session, "failure", facts, row.auditor_id, at=written)
    session.add(row)
    AUDITS.labels(state="failed").inc()


def _until_available(write: Callable[[], None]) -> None:
    """Write; while the database is unavailable, write the same again, for up to
    `COMMIT_SECONDS`.
    """
    until, pause = time.monotonic() + COMMIT_SECONDS, COMMIT_PAUSE_SECONDS
    while True:
        try:
            return write()
        except UNAVAILABLE:
            if time.monotonic() + pause > until:
                raise
            log.warning("release.waits", exc_info=True)
        time.sleep(pause)
        pause *= 2
