"""Told to stop, a worker finishes what it is at, or leaves it to another at once."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.clock import now
from api.shift import Shift
from api.store import AuditRow
from tests.durability.processes import PATIENCE, PRICE, Books, Host, hosted, request, until
from tests.world import sqlite_url


@pytest.fixture
def patient(tmp_path: Path) -> Iterator[Host]:
    """A lease outlives the test: what goes on was finished or left, not waited for."""
    settings = {"lease_seconds": 600, "shutdown_seconds": 0.2}
    with hosted(tmp_path, sqlite_url(tmp_path), **settings) as host:
        yield host


def released_once(host: Host, audit_id: str) -> None:
    books = Books.of(host.store)
    books.check()
    assert books.states == {audit_id: "released"}
    assert len(books.releases) == len(books.entries_of("release")) == 1
    assert books.mandates[0].spent == PRICE


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


def test_what_can_be_finished_in_time_is_finished(patient: Host) -> None:
    host = patient
    with host.serving() as service:
        auditor = host.auditor()
        audit = auditor.audits.submit(request(auditor))
        host.hold()
        worker = service.worker()
        worker.settings = worker.settings.model_copy(update={"shutdown_seconds": PATIENCE})
        shift = Shift(worker)
        shift.begin()
        until(host.began, "the worker to score")
        host.let_go()
        shift.end()
        shift.end()  # over is over
    released_once(host, audit.id)
