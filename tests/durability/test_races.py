"""Many at once, on both databases: processes, threads and clients who all want the same thing."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from api.audiences import uploads
from api.audiences.erasure import erase
from api.audits import cancellation
from api.db import AuditRow
from api.kernel.clock import now
from api.ledger import lock
from auditor_client import Auditor
from auditor_client.errors import AudienceNotSealedError, BudgetExhaustedError, NotCancellableError
from openapi.resources import ScoreHistogramRequest
from tests.conftest import new_postgresql
from tests.durability.processes import (
    PRICE,
    Host,
    StoredAudits,
    caller_of,
    hosted,
    request,
    until,
)

pytestmark = pytest.mark.long

PROCESSES, THREADS, CLIENTS = 2, 6, 8
ATTEMPTS = CLIENTS + PROCESSES * THREADS

REFUSED = {"refused": "budget-exhausted"}

Wish = tuple[str, ScoreHistogramRequest]


def race(host: Host, auditor: Auditor, wishes: list[Wish]) -> list[dict[str, Any]]:
    """The outcome of every wish: by HTTP from threads, and in processes with threads."""
    go = host.folder / "go"

    def by_http(wish: Wish) -> dict[str, Any]:
        until(go.exists, "the start")
        try:
            audit = auditor.audits.submit(wish[1], idempotency_key=wish[0])
        except BudgetExhaustedError as refused:
            return {"refused": refused.code}
        return {"audit": audit.model_dump(mode="json")}

    mine, theirs = wishes[:CLIENTS], wishes[CLIENTS:]
    with racing(host, auditor, theirs) as racers, ThreadPoolExecutor(CLIENTS) as clients:
        attempts = [clients.submit(by_http, wish) for wish in mine]
        go.touch()
        outcomes = [attempt.result() for attempt in attempts]
        for racer in racers:
            text, complaint = racer.communicate()
            assert racer.returncode == 0, complaint
            outcomes += [json.loads(line) for line in text.splitlines()]
    assert len(outcomes) == len(wishes) == ATTEMPTS
    return outcomes


@contextmanager
def racing(
    host: Host, auditor: Auditor, wishes: list[Wish]
) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that are ready to submit their share of the wishes."""
    caller = asdict(caller_of(host.store, auditor))
    key = auditor._statements._key.as_dict(private=True)
    words = [str(host.folder / "settings.toml"), str(host.folder / "go")]
    racers = []
    for number in range(PROCESSES):
        racer = subprocess.Popen(
            [sys.executable, "-m", "tests.durability.racer", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        racers.append(racer)
        assert racer.stdin
        share = [(name, asked.model_dump(mode="json")) for name, asked in wishes[number::PROCESSES]]
        racer.stdin.write(json.dumps({"caller": caller, "key": key, "wishes": share}))
        racer.stdin.close()
        racer.stdin = None
    try:
        for racer in racers:
            assert racer.stdout
            line = racer.stdout.readline()
            assert line == "ready\n", racer.communicate()[1]
        yield racers
    finally:
        for racer in racers:
            racer.kill()
            racer.communicate()


def test_the_last_epsilon_is_spent_once_however_many_want_it(served: Host) -> None:
    host = served
    buys = ATTEMPTS // 4
    auditor = host.auditor(budget=buys * PRICE)
    # On audiences of their own: nothing but the mandate is shared.
    wishes = [(f"attempt-{number}", request(auditor)) for number in range(ATTEMPTS)]
    outcomes = race(host, auditor, wishes)
    paid = [outcome["audit"]["id"] for outcome in outcomes if "audit" in outcome]
    assert len(set(paid)) == len(paid) == buys
    assert [o for o in outcomes if "audit" not in o] == [REFUSED] * (ATTEMPTS - buys)
    stored = StoredAudits.of(host.store)
    stored.check()
    assert set(stored.states) == set(paid)
    assert stored.mandates[0].spent == stored.mandates[0].epsilon_limit == buys * PRICE
    assert len(stored.entries_of("refusal")) == ATTEMPTS - buys


def test_identical_requests_at_once_are_one_charge_and_one_answer(served: Host) -> None:
    host = served
    auditor = host.auditor(budget=Fraction(100))
    outcomes = race(host, auditor, [("the-same-key", request(auditor))] * ATTEMPTS)
    assert all(outcome == outcomes[0] for outcome in outcomes)
    stored = StoredAudits.of(host.store)
    stored.check()
    assert list(stored.states) == [outcomes[0]["audit"]["id"]]
    assert stored.mandates[0].spent == PRICE


def test_a_cancel_that_races_with_a_worker_refunds_or_comes_too_late(served: Host) -> None:
    host = served
    host.worker()
    auditor = host.auditor()
    asked = request(auditor)
    auditor.audits.run(asked.content_id, asked.audience_id, bins=2, epsilon="0.5", progress=False)

    def submit_and_cancel(_: int) -> tuple[str, bool]:
        audit = auditor.audits.submit(asked)
        try:
            return audit.id, auditor.audits.cancel(audit.id).state == "cancelled"
        except NotCancellableError:
            return audit.id, False

    with ThreadPoolExecutor(4) as clients:
        outcomes = dict(clients.map(submit_and_cancel, range(24)))
    for audit_id, cancelled in outcomes.items():
        if not cancelled:
            auditor.audits.wait(audit_id, progress=False)
    stored = StoredAudits.of(host.store)
    stored.check()
    assert {stored.states[a] for a, cancelled in outcomes.items() if cancelled} <= {"cancelled"}
    assert {stored.states[a] for a, cancelled in outcomes.items() if not cancelled} <= {"released"}
    late = sum(not cancelled for cancelled in outcomes.values())
    assert stored.mandates[0].spent == (1 + late) * PRICE


def test_a_cancel_waits_for_a_claim_and_comes_too_late(served: Host) -> None:
    auditor = served.auditor()
    audit = auditor.audits.submit(request(auditor))
    with ThreadPoolExecutor(1) as client:
        with served.store.write() as session:
            # What a worker does, seen in the middle of its transaction.
            claim = select(AuditRow).where(AuditRow.id == audit.id).with_for_update()
            row = session.exec(claim).one()
            row.state, row.lease_until = "running", now() + timedelta(seconds=60)
            session.add(row)
            session.flush()
            attempt = client.submit(auditor.audits.cancel, audit.id)
            time.sleep(0.5)
        with pytest.raises(NotCancellableError):
            attempt.result()
    stored = StoredAudits.of(served.store)
    stored.check()
    assert stored.states == {audit.id: "running"}
    assert stored.mandates[0].spent == PRICE


def test_a_worker_does_not_claim_what_is_being_cancelled(host: Host) -> None:
    with host.serving() as service, ThreadPoolExecutor(1) as thread:
        auditor = host.auditor()
        audit = auditor.audits.submit(request(auditor))
        caller = caller_of(host.store, auditor)
        with host.store.write() as session:
            cancellation.cancel(session, caller, audit.id, service.settings)
            session.flush()
            attempt = thread.submit(service.worker().run_one)
            time.sleep(0.5)
        assert not attempt.result()
    stored = StoredAudits.of(host.store)
    stored.check()
    assert stored.states == {audit.id: "cancelled"}
    assert stored.mandates[0].spent == 0
    assert host.began() == 0


def test_an_audience_erased_meanwhile_is_refused_and_not_charged(served: Host) -> None:
    auditor = served.auditor()
    asked = request(auditor)
    caller = caller_of(served.store, auditor)
    with ThreadPoolExecutor(1) as client:
        with served.store.write() as session:
            lock(session)
            erase(session, uploads.get_owned(session, caller, asked.audience_id, lock="skip"))
            session.flush()
            attempt = client.submit(auditor.audits.submit, asked)
            time.sleep(0.5)  # The submission finds the audience sealed, or waits.
        with pytest.raises(AudienceNotSealedError):
            attempt.result()
    stored = StoredAudits.of(served.store)
    stored.check()
    assert stored.states == {}


@pytest.fixture
def postgresql_host(postgresql: str, tmp_path: Path) -> Iterator[Host]:
    with hosted(tmp_path, new_postgresql(postgresql), seconds=0.02) as host, host.serving():
        yield host


def test_workers_share_the_queue_and_run_every_audit_once(postgresql_host: Host) -> None:
    host = postgresql_host
    host.hold()
    workers = [host.worker() for _ in range(3)]
    # One auditor alone has two of three.
    both = [host.auditor(), host.auditor()]
    asked = [(auditor, request(auditor)) for auditor in both]
    audits = [(auditor, auditor.audits.submit(about)) for auditor, about in asked * 10]
    until(lambda: len(host.scorers()) == 3, "three workers to score")
    host.let_go()
    for auditor, audit in audits:
        auditor.audits.wait(audit.id, progress=False)
    stored = StoredAudits.of(host.store)
    stored.check()
    assert set(stored.states.values()) == {"released"}
    assert len(stored.releases) == 20
    assert [mandate.spent for mandate in stored.mandates] == [10 * PRICE] * 2
    # Two groups are two calls: nothing was scored a second time.
    assert host.began() == 40
    assert {int(pid) for pid in host.scorers()} == {worker.pid for worker in workers}
