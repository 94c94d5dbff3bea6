"""Checks of the service's health, each with a sentence that says how to correct a problem."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlmodel import Session, select

from api.audits.queue.heartbeats import RECENT, Process, list_processes
from api.db import LedgerEndRow, SigningKeyRow, Store
from api.health.database_status import Database, read_database_status
from api.health.queue_status import Queue, read_queue_status
from api.kernel.clock import now
from api.kernel.settings import Settings
from api.ledger.checkpoints import load_latest
from api.telemetry.process_counters import RequestCounts, sum_traffic

State = Literal["well", "watch", "wrong"]

_LONG_WAIT = timedelta(minutes=5)
_OLD_KEY = timedelta(days=365)
_LITTLE_SPACE = 0.1
_MANY_FAILURES = 0.01
_MANY_SHED = 0.01
# Count since the processes started: a busy machine alone makes some parts late.
_MANY_LATE = 100


@dataclass(frozen=True)
class ProbeResult:
    name: str
    state: State
    words: str


@dataclass(frozen=True)
class ServiceHealth:
    """Health of the service now."""

    checks: list[ProbeResult]
    queue: Queue
    processes: list[Process]
    traffic: RequestCounts
    database: Database
    entries: int

    @property
    def state(self) -> State:
        """Return the state of the worst check."""
        found = {check.state for check in self.checks}
        return "wrong" if "wrong" in found else "watch" if "watch" in found else "well"


def check_health(session: Session, store: Store, settings: Settings) -> ServiceHealth:
    found, waiting, base = (
        list_processes(session),
        read_queue_status(session),
        read_database_status(session, store),
    )
    alive = [each for each in found if not each.lost]
    traffic = sum_traffic(part for each in alive for part in each.figures.routes.values())
    checks = [
        _database(base),
        *_disk(base),
        _processes(found),
        _workers(alive, waiting),
        _queue(waiting),
        _failures(traffic),
        _overload(alive),
        _adapter(alive),
        _pace(alive),
        _ledger(session, settings.checkpoint_seconds),
        _keys(session),
    ]
    entries = session.exec(select(LedgerEndRow)).one().size
    return ServiceHealth(checks, waiting, found, traffic, base, entries)


def _database(base: Database) -> ProbeResult:
    if not base.in_step:
        return ProbeResult(
            "Database",
            "wrong",
            f"it is at revision {base.revision}, and the code at {base.newest}: restart the"
            " processes of the older version; `platform-auditor serve` migrates by itself",
        )
    words = f"{base.kind} answered in {base.milliseconds:.1f} ms, at revision {base.revision}"
    return ProbeResult("Database", "well", words)


def _disk(base: Database) -> Iterator[ProbeResult]:
    if base.disk:
        share = base.disk.free / base.disk.total
        state: State = "well" if share >= _LITTLE_SPACE else "wrong"
        yield ProbeResult("Disk", state, f"{share:.0%} of the database's volume is free")


def _processes(found: Sequence[Process]) -> ProbeResult:
    if lost := [f"{each.row.host}:{each.row.pid}" for each in found if each.lost]:
        words = (
            f"not heard of (dead or stuck): {', '.join(lost)}. Their rows are deleted after a day"
        )
        return ProbeResult("Processes", "watch", words)
    if len({each.row.version for each in found}) > 1:
        return ProbeResult("Processes", "watch", "they run different versions: finish the roll-out")
    return ProbeResult("Processes", "well", f"{len(found)} run, all of the same version")


def _workers(alive: Sequence[Process], waiting: Queue) -> ProbeResult:
    workers = sum(each.row.works for each in alive)
    if workers:
        many = f"{workers} process{'es' * (workers > 1)} run{'s' * (workers == 1)} audits"
        return ProbeResult("Workers", "well", many)
    state: State = "wrong" if waiting.by_status["waiting"] else "watch"
    return ProbeResult("Workers", state, "no process runs audits: start `platform-auditor worker`")


def _queue(waiting: Queue) -> ProbeResult:
    late = waiting.oldest is not None and now() - waiting.oldest > _LONG_WAIT
    if late:
        return ProbeResult(
            "Queue", "watch", "an audit has waited for more than 5 minutes: start more workers"
        )
    if waiting.failures.get("internal"):
        words = "audits failed within a day; the log has each as `audit.error`"
        return ProbeResult("Queue", "watch", words)
    return ProbeResult("Queue", "well", f"{waiting.by_status['waiting']} wait, none for long")


def _failures(traffic: RequestCounts) -> ProbeResult:
    minutes = int(RECENT.total_seconds() // 60)
    failed, all_of_them = traffic.failed, traffic.requests
    words = f"{failed} of {all_of_them} requests failed (5xx) in the last {minutes} minutes"
    if not failed:
        return ProbeResult("Errors", "well", words)
    state: State = "wrong" if failed > _MANY_FAILURES * all_of_them else "watch"
    return ProbeResult("Errors", state, f"{words}: the log has the reasons")


def _overload(alive: Sequence[Process]) -> ProbeResult:
    """Warn if admission refused more than one request in a hundred."""
    shed = sum(each.figures.shed for each in alive)
    requests = sum(each.figures.total.requests for each in alive)
    words = f"{shed} of {requests} requests were refused because too many were in progress"
    if shed <= _MANY_SHED * requests:
        return ProbeResult("Overload", "well", words)
    return ProbeResult("Overload", "watch", f"{words}: start more processes, or find their senders")


def _adapter(alive: Sequence[Process]) -> ProbeResult:
    """Warn if more than one call to the platform in a hundred failed."""
    calls = sum(each.figures.adapter_calls for each in alive)
    failed = sum(each.figures.adapter_failures for each in alive)
    words = f"{failed} of {calls} calls to the platform failed"
    if failed <= _MANY_FAILURES * calls:
        return ProbeResult("Adapter", "well", words)
    return ProbeResult("Adapter", "watch", f"{words}: run `platform-auditor conformance`")


def _pace(alive: Sequence[Process]) -> ProbeResult:
    late = sum(each.figures.late for each in alive)
    words = f"{late} parts and audits were not ready in their public time"
    if late <= _MANY_LATE:
        return ProbeResult("Pace", "well", words)
    slower = "declare a slower pace (match_seconds, match_rate; audit_seconds, audit_rate)"
    return ProbeResult("Pace", "watch", f"{words}, which auditors can see: {slower}")


def _ledger(session: Session, seconds: float) -> ProbeResult:
    head, signed = session.exec(select(LedgerEndRow)).one(), load_latest(session)
    unsigned = head.size - (signed.size if signed else 0)
    patience = timedelta(seconds=3 * seconds + 5)
    if unsigned and now() - head.latest > patience:
        words = f"{unsigned} entries are not signed: see `checkpoint.error` in the log"
        return ProbeResult("Ledger", "wrong", words)
    return ProbeResult("Ledger", "well", f"{head.size} entries, signed up to date")


def _keys(session: Session) -> ProbeResult:
    rows = session.exec(select(SigningKeyRow)).all()
    ages = [_days(row.created_at) for row in rows if row.retired_at is None]
    oldest = max(ages, default=0)
    if oldest > _OLD_KEY.days:
        return ProbeResult("Keys", "watch", f"a signing key is {oldest} days old: rotate the keys")
    return ProbeResult("Keys", "well", f"the oldest signing key in use is {oldest} days old")


def _days(since: datetime) -> int:
    return (now() - since).days
