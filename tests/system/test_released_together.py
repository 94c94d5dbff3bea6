"""Group commit: releases that waited for the ledger commit together, each as if alone."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy.exc import OperationalError
from sqlmodel import col, select

from api.audits.publication import FinishedRun
from api.audits.queue import leases as claims
from api.audits.queue import worker
from api.audits.queue.leases import Leases
from api.audits.queue.worker import Worker
from api.db import AudienceRow, AuditRow, CourseRow, EntryRow, ReleaseRow, Store
from api.kernel.clock import now
from api.kinds.context import in_process_context
from api.platforms.interfaces import Platform
from auditor_client import Auditor
from openapi.resources import Audit
from tests.one_model import OneModel
from tests.world import Deployment, deployed

PATIENCE = 20.0


@pytest.fixture(scope="module")
def host(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    # Nobody is notified, so a waiter that depends on a notification fails.
    kept = {"embedded_worker": False, "lease_seconds": 600.0, "poll_seconds": 60.0}
    with deployed(new_database(), platform, **kept) as running:
        yield running


@pytest.fixture
def at_work(host: Deployment) -> Iterator[Worker]:
    """A worker; nothing waits before and after."""
    yield host.service.worker()
    while host.service.worker().run_one():
        pass


def asks(auditor: Auditor, title: str = "Engineer", people: int = 20) -> Audit:
    content = auditor.contents.upload(kind="job", title=title)
    audience = auditor.audiences.sample("gender", {"woman": people, "man": people})
    return auditor.audits.submit(auditor.audits.request(content, audience, bins=2, epsilon=0.1))


def several(host: Deployment, *titles: str) -> list[str]:
    """An audit each of as many auditors, in this order."""
    return [asks(host.auditor(), title).id for title in titles]


def made(at_work: Worker, count: int) -> list[FinishedRun]:
    found = []
    for _ in range(count):
        audit = at_work._claim()
        assert audit is not None
        at_work.leases.track(audit)
        found.append(at_work._execute(audit))
    return found


def rows(store: Store, audits: Sequence[str]) -> list[AuditRow]:
    with store.read() as session:
        return [session.get_one(AuditRow, audit) for audit in audits]


def states(store: Store, audits: Sequence[str]) -> list[str]:
    return [row.state for row in rows(store, audits)]


def set_row(store: Store, audit: str, **values: object) -> None:
    with store.write() as session:
        row = session.get_one(AuditRow, audit)
        for name, value in values.items():
            setattr(row, name, value)
        session.add(row)


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.01)


class Scoring(OneModel):
    """Scores a content called `held` once it is let go."""

    def __init__(self) -> None:
        self.began, self.go = threading.Event(), threading.Event()

    def score(self, content: Any, persons: NDArray[np.int64], *_: Any) -> NDArray[np.float64]:
        if content["title"] == "held":
            self.began.set()
            assert self.go.wait(PATIENCE)
        return np.full(len(persons), 0.5)


@contextmanager
def working(at_work: Worker) -> Iterator[None]:
    stop, wake = threading.Event(), threading.Event()
    thread = threading.Thread(target=at_work.run, args=(stop, wake))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        wake.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_what_was_made_is_released_in_one_transaction(host: Deployment, at_work: Worker) -> None:
    """Audiences have different sizes; nobody gets another auditor's release."""
    auditors = [host.auditor() for _ in range(3)]
    audits = [asks(auditor, people=10 * n).id for n, auditor in enumerate(auditors, start=1)]
    found = made(at_work, 3)
    audiences = [each.audit.audience_id for each in found]
    with at_work.store.write() as session:
        for audience in audiences:
            session.get_one(AudienceRow, audience).expires_at = now()
        session.add(CourseRow(audit_id=audits[1], begun_at=now(), state=b"so far"))
    at_work._release(found)
    assert at_work.leases.tracked == []
    assert states(at_work.store, audits) == ["released"] * 3
    # The SDK checks the receipt of each, and that it is of the audit that was asked for.
    for number, (auditor, audit) in enumerate(zip(auditors, audits, strict=True), start=1):
        release = auditor.audits.get(audit).release
        assert [group.size.value for group in release.groups] == [10 * number] * 2
    with at_work.store.read() as session:
        query = select(ReleaseRow).where(col(ReleaseRow.audit_id).in_(audits))
        releases = {release.audit_id: release for release in session.exec(query)}
        entries = [session.get_one(EntryRow, releases[audit].entry) for audit in audits]
        kept = [session.get_one(AudienceRow, audience).expires_at for audience in audiences]
        assert session.get(CourseRow, audits[1]) is None
    first = entries[0].number
    assert [entry.number for entry in entries] == [first, first + 1, first + 2]
    assert [entry.auditor_id for entry in entries] == [each.audit.auditor_id for each in found]
    assert len({entry.at for entry in entries}) == 1
    assert min(kept) > now() + timedelta(days=1)


def test_one_that_is_stopped_or_taken_over_keeps_none_of_the_others(
    host: Deployment, at_work: Worker
) -> None:
    audits = several(host, *["Engineer"] * 4)
    found = made(at_work, 4)
    set_row(at_work.store, audits[1], stopped=True)
    set_row(at_work.store, audits[2], claim="of another")
    at_work._release(found)
    ended = rows(at_work.store, audits)
    assert [row.state for row in ended] == ["released", "failed", "running", "released"]
    assert (ended[1].failure, ended[2].claim) == ("stopped", "of another")
    assert at_work.leases.tracked == []
    set_row(at_work.store, audits[2], claim=None, lease_until=now())


def test_what_cannot_be_written_fails_alone(
    host: Deployment, at_work: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    audits = several(host, *["Engineer"] * 3)
    found = made(at_work, 3)
    found[1] = replace(found[1], body=None)  # type: ignore[arg-type]
    monkeypatch.setattr(FinishedRun, "digest", "sha256:0")
    at_work._release(found)
    ended = rows(at_work.store, audits)
    assert [row.state for row in ended] == ["released", "failed", "released"]
    assert ended[1].failure == "internal"


def test_without_a_database_nothing_is_lost(
    host: Deployment, at_work: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stay as they are, with no attempt of theirs, until their leases run out."""
    audits = several(host, *["Engineer"] * 2)
    found = made(at_work, 2)

    def gone(*_: object) -> None:
        raise OperationalError("", {}, Exception("gone"))

    with monkeypatch.context() as patch:
        patch.setattr(worker, "publish", gone)
        with pytest.raises(OperationalError):
            at_work._release(found)
    assert at_work.leases.tracked == []
    for row in rows(at_work.store, audits):
        assert (row.state, row.attempts) == ("running", 0)
        set_row(at_work.store, row.id, lease_until=now())
    assert at_work.run_one()
    assert at_work.run_one()
    assert states(at_work.store, audits) == ["released"] * 2


def test_a_slow_audit_keeps_no_release(host: Deployment, at_work: Worker) -> None:
    audits = several(host, "Engineer", "held")
    scoring = Scoring()
    on = in_process_context(replace(at_work.platform, scores=scoring))
    slow = replace(at_work, platform=on.platform, engine=on.engine)
    with working(slow):
        assert scoring.began.wait(PATIENCE)
        until(lambda: states(at_work.store, audits) == ["released", "running"])
        scoring.go.set()
        until(lambda: states(at_work.store, audits) == ["released"] * 2)


def test_who_is_alone_has_the_next_as_soon_as_one_is_released(
    host: Deployment, at_work: Worker
) -> None:
    """One worker is heard of, so that one audit of an auditor runs at a time."""
    auditor = host.auditor()
    audits = [asks(auditor).id for _ in range(3)]
    with working(at_work):
        until(lambda: states(at_work.store, audits) == ["released"] * 3)


def test_told_to_stop_it_releases_what_was_made(
    host: Deployment, at_work: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    audits = several(host, *["Engineer"] * 3)
    commit, go = Worker._commit, threading.Event()

    def late(self: Worker, some: Sequence[FinishedRun]) -> None:
        assert go.wait(PATIENCE)
        commit(self, some)

    monkeypatch.setattr(Worker, "_commit", late)
    with working(at_work):
        until(lambda: len(at_work.leases.tracked) == 3)
        threading.Timer(0.2, go.set).start()
    assert states(at_work.store, audits) == ["released"] * 3


@pytest.mark.parametrize("for_good", [False, True])
def test_who_lost_an_audit_does_not_give_it_back(
    host: Deployment, at_work: Worker, for_good: bool
) -> None:
    """Its successor would draw, and could release nothing."""
    store, [audit] = host.service.store, several(host, "Engineer")
    lost = at_work._claim()
    assert lost is not None
    set_row(store, audit, claim="another")
    at_work._give_back(lost, "internal", for_good=for_good)
    [row] = rows(store, [audit])
    assert (row.state, row.claim, row.attempts) == ("running", "another", 0)
    set_row(store, audit, lease_until=now() - timedelta(seconds=1))


def test_all_that_is_under_way_is_parked(host: Deployment, at_work: Worker) -> None:
    audits = several(host, *["Engineer"] * 2)
    found = made(at_work, 2)
    at_work.hand_over()
    assert [row.claim for row in rows(at_work.store, audits)] == [None, None]
    at_work._release(found)  # too late
    assert states(at_work.store, audits) == ["running"] * 2
    assert host.service.worker().run_one()


def test_leases_are_renewed_for_all_that_is_under_way(host: Deployment, at_work: Worker) -> None:
    audits = several(host, *["Engineer"] * 3)
    claimed = [row for _ in audits if (row := at_work._claim()) is not None]
    leases = Leases(at_work.store, at_work.settings.model_copy(update={"lease_seconds": 0.3}))
    for row in claimed[:2]:
        leases.track(row)

    def left() -> list[timedelta]:
        return [row.lease_until - now() for row in rows(at_work.store, audits) if row.lease_until]

    until(lambda: max(left()[:2]) < timedelta(seconds=1))
    assert left()[2] > timedelta(minutes=9)
    time.sleep(0.5)
    assert min(left()[:2]) > timedelta(seconds=-0.3)
    leases.untrack(*claimed)
    until(lambda: not leases._alive)
    claims.release_lease(at_work.store, claimed, now())
