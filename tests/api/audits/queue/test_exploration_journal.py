"""The journal of an audit: who may write it, what ends it, and that it is gone afterwards."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from api.audits.queue import leases
from api.audits.queue.exploration_journal import (
    AuditJournal,
    LeaseLostError,
    PausedError,
    StoppedError,
    purge_journals,
)
from api.audits.queue.worker import Worker
from api.db import AuditRow, CourseRow, Store
from api.kernel.clock import now
from api.platforms.interfaces import Platform
from tests.exploring import SMALL, ByNumber, asked, consenting_sample, exploring_auditor
from tests.world import Deployment, deployed

SIZES = SMALL | {"steps": 300}


@pytest.fixture(scope="module")
def deployment(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    exploring = replace(platform, policies=ByNumber())
    with deployed(new_database(), exploring, embedded_worker=False) as running:
        yield running


@pytest.fixture
def worker(deployment: Deployment) -> Worker:
    auditor = exploring_auditor(deployment)
    audience = consenting_sample(auditor, 10)
    auditor.audits.submit(asked(audience.id, **SIZES))
    return deployment.service.worker()


def claimed(worker: Worker) -> AuditRow:
    audit = worker._claim()
    assert audit is not None
    return audit


def set_row(store: Store, audit: AuditRow, **fields: object) -> None:
    with store.write() as session:
        row = session.get_one(AuditRow, audit.id)
        for name, value in fields.items():
            setattr(row, name, value)
        session.add(row)


def test_it_is_written_and_read_and_counts_as_progress(worker: Worker) -> None:
    audit = claimed(worker)
    journal = AuditJournal(worker.store, audit)
    assert journal.read() is None
    set_row(worker.store, audit, attempts=4, claims=30)
    journal.write(b"one")
    journal.write(b"two")
    assert AuditJournal(worker.store, audit).read() == b"two"
    with worker.store.write() as session:
        row = session.get_one(AuditRow, audit.id)
        assert (row.attempts, row.claims) == (0, 1)
        purge_journals(session, audit.id)
    assert journal.read() is None
    set_row(worker.store, audit, state="failed")


def test_who_was_given_up_for_dead_cannot_write(worker: Worker) -> None:
    first = claimed(worker)
    AuditJournal(worker.store, first).write(b"first")
    set_row(worker.store, first, lease_until=now() - timedelta(seconds=1))
    second = claimed(worker)
    assert second.id == first.id
    AuditJournal(worker.store, second).write(b"second")
    with pytest.raises(LeaseLostError):
        AuditJournal(worker.store, first).write(b"first again")
    with pytest.raises(LeaseLostError):
        AuditJournal(worker.store, first).wait_until(0, lambda: b"")
    assert AuditJournal(worker.store, second).read() == b"second"
    set_row(worker.store, first, state="failed")


def test_a_long_wait_is_written_and_left_to_the_queue(worker: Worker) -> None:
    audit = claimed(worker)
    journal = AuditJournal(worker.store, audit)
    journal.wait_until(0, lambda: b"never written")
    assert journal.read() is None
    with pytest.raises(PausedError) as paused:
        journal.wait_until(3600, lambda: b"so far")
    assert journal.read() == b"so far"
    with worker.store.read() as session:
        begun = session.get_one(CourseRow, audit.id).begun_at
    assert paused.value.until - begun == timedelta(hours=1)
    leases.release_lease(worker.store, [audit], paused.value.until)
    # Not taken up before, and taken up as soon as any lease would have run out.
    assert worker._claim() is None
    with worker.store.read() as session:
        lease = session.get_one(AuditRow, audit.id).lease_until
    assert lease is not None
    assert now() < lease < now() + timedelta(minutes=6)
    set_row(worker.store, audit, state="failed")


def test_a_stop_is_found_before_anything_is_written(worker: Worker) -> None:
    audit = claimed(worker)
    journal = AuditJournal(worker.store, audit)
    journal.write(b"before")
    set_row(worker.store, audit, stopped=True)
    with pytest.raises(StoppedError):
        journal.write(b"after")
    with pytest.raises(StoppedError):
        journal.wait_until(0, lambda: b"")
    assert journal.read() == b"before"
    set_row(worker.store, audit, state="failed")


def test_nothing_of_it_is_left_after_the_release(worker: Worker) -> None:
    audit = claimed(worker)
    set_row(worker.store, audit, lease_until=now() - timedelta(seconds=1))
    assert worker.run_one()
    with worker.store.read() as session:
        assert session.get_one(AuditRow, audit.id).state == "released"
        assert session.get(CourseRow, audit.id) is None
