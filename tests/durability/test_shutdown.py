"""Told to stop, a worker finishes what it is at, or leaves it to another at once."""

import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from api.audits.queue.worker_thread import WorkerThread
from api.db import AuditRow
from api.kernel.clock import now
from auditor_client import Auditor
from tests.durability.processes import (
    PATIENCE,
    PRICE,
    Host,
    Process,
    StoredAudits,
    hosted,
    request,
    until,
)
from tests.world import sqlite_url

pytestmark = pytest.mark.long

# In order, or by the signal itself when all is done.
ENDED = (0, -signal.SIGTERM)


@pytest.fixture
def patient(tmp_path: Path) -> Iterator[Host]:
    """A lease outlives the test: what goes on was finished or left, not waited for."""
    settings = {"lease_seconds": 600, "shutdown_seconds": 0.2}
    with hosted(tmp_path, sqlite_url(tmp_path), **settings) as host:
        yield host


def released_once(host: Host, audit_id: str) -> None:
    stored = StoredAudits.of(host.store)
    stored.check()
    assert stored.states == {audit_id: "released"}
    assert len(stored.releases) == len(stored.entries_of("release")) == 1
    assert stored.mandates[0].spent == PRICE


def test_sigterm_parks_an_audit_that_takes_too_long(patient: Host) -> None:
    host = patient
    with host.serving() as service:
        auditor = host.auditor()
        audit = auditor.audits.submit(request(auditor))
        host.hold()
        worker = host.worker()
        until(lambda: host.began(worker), "the worker to score")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0
        with host.store.read() as session:
            row = session.get_one(AuditRow, audit.id)
        assert (row.state, row.claim, row.attempts) == ("running", None, 0)
        assert row.lease_until is not None
        assert row.lease_until <= now()
        host.let_go()
        assert service.worker().run_one()
    released_once(host, audit.id)


@contextmanager
def with_its_own_worker(folder: Path, shutdown_seconds: float) -> Iterator[tuple[Host, Process]]:
    """The API as it is started by default."""
    told = {"embedded_worker": True, "lease_seconds": 600, "shutdown_seconds": shutdown_seconds}
    with hosted(folder, sqlite_url(folder), **told) as host:
        yield host, host.serve()


def followed(auditor: Auditor, audit_id: str) -> Generator[object]:
    """A stream that is open: its first event was read."""
    events = auditor._transport.events(f"/v1/audits/{audit_id}/events")
    assert isinstance(events, Generator)
    next(events)
    return events


def test_sigterm_to_the_api_parks_an_audit_and_waits_for_no_stream(tmp_path: Path) -> None:
    with with_its_own_worker(tmp_path, 0.2) as (host, api):
        auditor = host.auditor()
        host.hold()
        audit = auditor.audits.submit(request(auditor))
        until(host.began, "the worker to score")
        events = followed(auditor, audit.id)
        api.send_signal(signal.SIGTERM)
        # Far less than it once waited for streams alone.
        assert api.wait(8) in ENDED
        with pytest.raises(httpx2.TransportError):
            list(events)
        with host.store.read() as session:
            row = session.get_one(AuditRow, audit.id)
        assert (row.state, row.claim, row.attempts) == ("running", None, 0)
        host.let_go()
        with host.serving():
            auditor.audits.wait(audit.id, progress=False)
        released_once(host, audit.id)


def test_sigterm_to_the_api_finishes_an_audit_and_takes_up_no_other(tmp_path: Path) -> None:
    with with_its_own_worker(tmp_path, 5) as (host, api):
        auditor = host.auditor()
        host.hold()
        first, second = (auditor.audits.submit(request(auditor)) for _ in range(2))
        until(host.began, "the worker to score")
        # Of an audit that does not move: nothing but time ends it.
        events = followed(auditor, second.id)
        api.send_signal(signal.SIGTERM)
        until(lambda: not host.ready(api), "the API to be told")
        host.let_go()
        assert api.wait(PATIENCE) in ENDED
        events.close()
        stored = StoredAudits.of(host.store)
        stored.check()
        assert stored.states == {first.id: "released", second.id: "charged"}


def test_what_can_be_finished_in_time_is_finished(patient: Host) -> None:
    host = patient
    with host.serving() as service:
        auditor = host.auditor()
        audit = auditor.audits.submit(request(auditor))
        host.hold()
        worker = service.worker()
        worker.settings = worker.settings.model_copy(update={"shutdown_seconds": PATIENCE})
        worker_thread = WorkerThread(worker)
        worker_thread.start()
        until(host.began, "the worker to score")
        host.let_go()
        worker_thread.stop()
        worker_thread.stop()  # over is over
    released_once(host, audit.id)
