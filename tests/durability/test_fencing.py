"""A worker that lost its lease finds out when it wants to release, on both databases."""

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from api.app.container import build_container
from api.audits.queue import leases
from api.audits.queue.worker import Worker
from api.db import AuditRow, ReleaseRow
from api.kernel.clock import now
from api.kernel.settings import load_settings
from tests.durability.processes import PRICE, Host, StoredAudits, request, until

pytestmark = pytest.mark.long


def worker(host: Host, name: str) -> tuple[Worker, Path]:
    """A worker whose lease outlives the test, and the folder to signal through to it."""
    folder = host.folder / name
    folder.mkdir()
    (folder / "hold").touch()
    settings = load_settings(host.folder / "settings.toml", lease_seconds=600)
    service = build_container(settings, host.platform(folder))
    host.stack.callback(service.store.close)
    return service.worker(), folder


def running(host: Host, run: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=run)
    thread.start()

    def finish() -> None:
        for hold in host.folder.glob("*/hold"):
            hold.unlink()
        thread.join()

    host.stack.callback(finish)
    return thread


def let_lease_run_out(host: Host, audit_id: str) -> None:
    with host.store.write() as session:
        row = session.get_one(AuditRow, audit_id)
        row.lease_until = now() - timedelta(seconds=1)
        session.add(row)


@pytest.mark.parametrize("late", ["while the other runs", "after the other released"])
def test_a_worker_without_its_lease_cannot_release(served: Host, late: str) -> None:
    host = served
    auditor = host.auditor()
    audit = auditor.audits.submit(request(auditor))
    (slow, slow_folder), (fresh, fresh_folder) = worker(host, "slow"), worker(host, "fresh")

    first = running(host, slow.run_one)
    until(lambda: list(slow_folder.glob("began-*")), "the first worker to score")
    assert not fresh.run_one()  # The lease holds: there is nothing to do.
    let_lease_run_out(host, audit.id)
    second = running(host, fresh.run_one)
    until(lambda: list(fresh_folder.glob("began-*")), "the second worker to take over")

    if late == "while the other runs":
        (slow_folder / "hold").unlink()
        first.join()
        # It scored and drew noise, and none of that is to be seen.
        assert StoredAudits.of(host.store).states == {audit.id: "running"}
        assert StoredAudits.of(host.store).releases == []
        (fresh_folder / "hold").unlink()
        second.join()
    else:
        (fresh_folder / "hold").unlink()
        second.join()
        with host.store.read() as session:
            body = session.get_one(ReleaseRow, audit.id).body
        (slow_folder / "hold").unlink()
        first.join()
        assert [row.body for row in StoredAudits.of(host.store).releases] == [body]

    auditor.audits.get(audit.id)
    stored = StoredAudits.of(host.store)
    stored.check()
    assert stored.states == {audit.id: "released"}
    assert len(stored.releases) == len(stored.entries_of("release")) == 1
    assert stored.mandates[0].spent == PRICE


def test_a_lost_lease_is_not_renewed_by_the_one_who_lost_it(served: Host) -> None:
    host = served
    auditor = host.auditor()
    audit = auditor.audits.submit(request(auditor))
    (slow, slow_folder), (fresh, fresh_folder) = worker(host, "slow"), worker(host, "fresh")
    first = running(host, slow.run_one)
    until(lambda: list(slow_folder.glob("began-*")), "the first worker to score")
    with host.store.read() as session:
        mine = session.get_one(AuditRow, audit.id)
    let_lease_run_out(host, audit.id)
    second = running(host, fresh.run_one)
    until(lambda: list(fresh_folder.glob("began-*")), "the second worker to take over")
    let_lease_run_out(host, audit.id)
    leases.renew(slow.store, slow.settings, [mine])
    with host.store.read() as session:
        row = session.get_one(AuditRow, audit.id)
    assert row.claim != mine.claim
    assert row.lease_until is not None
    assert row.lease_until < now()
    (slow_folder / "hold").unlink()
    (fresh_folder / "hold").unlink()
    first.join()
    second.join()
    StoredAudits.of(host.store).check()
