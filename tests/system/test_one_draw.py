"""Noise on one charge is drawn once: what cannot be encoded is refused, what fails is final."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlmodel import Session, select

from api import ledger
from api.audits import final_failures
from api.audits.publication import FinishedRun
from api.audits.queue import worker
from api.db import AuditRow, ReleaseRow, Store
from api.kernel import failpoints
from api.kernel.clock import now
from api.kernel.failpoints import Failpoint
from api.platforms.interfaces import Platform
from auditor_client import Auditor, NamedAudience
from auditor_client.errors import NoiseTooLargeError
from openapi.resources import OutcomeTestRequest
from platform_sim import World
from platform_sim.people import identifiers
from tests.logs.parquet import opportunities, written
from tests.world import Deployment, deployed, sqlite_url

GROUPS = 10
AFTER_THE_DRAW = [Failpoint.NOISED, Failpoint.SIGNED, Failpoint.RELEASE_WRITTEN]


@pytest.fixture(scope="module")
def logged(platform: Platform, world: World, tmp_path_factory: pytest.TempPathFactory) -> Platform:
    """One hundred people with one row each."""
    everybody = world.directory.holders("username")[:100]
    folder = tmp_path_factory.mktemp("log")
    return replace(platform, logs=written(folder, opportunities(everybody, 1)))


@pytest.fixture
def service(logged: Platform, tmp_path: Path) -> Iterator[Deployment]:
    url = sqlite_url(tmp_path)
    with deployed(url, logged, embedded_worker=False, lease_seconds=0.2) as running:
        yield running


@pytest.fixture
def auditor(service: Deployment) -> Auditor:
    return service.auditor(kinds=["outcome-test", "match-count"])


@pytest.fixture
def audience(auditor: Auditor, world: World) -> NamedAudience:
    return uploaded(auditor, world)


def uploaded(auditor: Auditor, world: World) -> NamedAudience:
    persons = world.directory.holders("username")[:100]
    names = identifiers.usernames(world.seed, persons, world.surnames[persons]).to_pylist()
    groups = [f"group {number % GROUPS}" for number in range(len(names))]
    table = pa.table({"username": names, "group": groups})
    return auditor.audiences.upload(table, id="username", by="group", groups_per_person=GROUPS)


def asked(auditor: Auditor, audience: NamedAudience, epsilon: str) -> OutcomeTestRequest:
    """Return a request of which one person moves the sums by 3.4e9 units: 100 rows in 10 groups."""
    return auditor.audits.requests.outcome_test(
        audience, "jobs", bins=[0, 1], epsilon=epsilon, rows_per_person=100
    )


@pytest.mark.parametrize("epsilon", ["0.000001", "0.000002", "0.000011"])
def test_noise_that_no_release_can_hold_is_refused_before_it_is_charged(
    service: Deployment, auditor: Auditor, audience: NamedAudience, epsilon: str
) -> None:
    request = asked(auditor, audience, epsilon)
    for ask in (lambda one: auditor.audits.price_all([one]), auditor.audits.submit):
        with pytest.raises(NoiseTooLargeError) as refused:
            ask(request)
        problem = refused.value.problem.model_dump()
        assert (problem["table"], problem["parameter"]) == ("moments", "epsilon")
        assert 0.000011 < float(problem["smallest"]) < 0.00002
    assert auditor.budget().mandates[0].spent == 0
    audit = auditor.audits.submit(asked(auditor, audience, problem["smallest"]))
    assert service.service.worker().run_one()
    assert auditor.audits.state(audit.id).state == "released"


@dataclass
class Failing:
    """A failpoint that raises each error once at a boundary, and counts draws of noise."""

    at: Failpoint
    errors: list[Exception]
    draws: int = 0

    def __call__(self, boundary: Failpoint) -> None:
        self.draws += boundary is Failpoint.NOISED
        if boundary is self.at and self.errors:
            raise self.errors.pop()


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Failpoint, list[Exception]], Failing]:
    def replaced(at: Failpoint, errors: list[Exception]) -> Failing:
        made = Failing(at, errors)
        monkeypatch.setattr(failpoints, "hit", made)
        return made

    return replaced


def run_all(service: Deployment) -> None:
    """Run until nothing is left to do; leases that have run out are taken up again."""
    with service.service.store.read() as session:
        audits = session.exec(select(AuditRow.id)).all()
    for audit_id in audits:
        while state_of(service.service.store, audit_id) in ("charged", "running"):
            forget_lease(service.service.store, audit_id)
            try:
                service.service.worker().run_one()
            except OperationalError:
                continue


def state_of(store: Store, audit_id: str) -> str:
    with store.read() as session:
        return session.get_one(AuditRow, audit_id).state


def forget_lease(store: Store, audit_id: str) -> None:
    with store.write() as session:
        row = session.get_one(AuditRow, audit_id)
        if row.state == "running":
            row.lease_until = now()
            session.add(row)


def releases(session: Session) -> int:
    return len(session.exec(select(ReleaseRow.audit_id)).all())


@pytest.mark.parametrize("at", AFTER_THE_DRAW)
@pytest.mark.parametrize(
    "error", [ValueError("no such number"), IntegrityError("insert", {}, Exception())]
)
def test_a_failure_after_the_draw_is_final(
    service: Deployment,
    auditor: Auditor,
    audience: NamedAudience,
    failing: Callable[[Failpoint, list[Exception]], Failing],
    at: Failpoint,
    error: Exception,
) -> None:
    audit = auditor.audits.submit(asked(auditor, audience, "1"))
    counted = failing(at, [error])
    run_all(service)
    ended = auditor.audits.state(audit.id)
    assert (ended.state, ended.failure, counted.draws) == ("failed", "internal", 1)
    assert auditor.budget().mandates[0].spent == audit.price.debit
    with service.service.store.read() as session:
        assert releases(session) == 0


@pytest.fixture
def unfailing(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Say whether the database is there when a failure is to be written: not while this is set."""
    down, append = [True], ledger.append

    def appended(session: Session, kind: str, *rest: Any, **options: Any) -> Any:
        if kind == "failure" and down:
            raise OperationalError("insert", {}, Exception("gone"))
        return append(session, kind, *rest, **options)

    monkeypatch.setattr(ledger, "append", appended)
    monkeypatch.setattr(worker, "COMMIT_SECONDS", 0.01)
    return down


@pytest.mark.parametrize("at", AFTER_THE_DRAW)
@pytest.mark.parametrize("claimed", [False, True])
def test_a_failure_after_the_draw_is_final_although_the_database_was_down(
    service: Deployment,
    auditor: Auditor,
    audience: NamedAudience,
    failing: Callable[[Failpoint, list[Exception]], Failing],
    unfailing: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    at: Failpoint,
    claimed: bool,
) -> None:
    """No draw follows in this process, whether or not it claims the audit again meanwhile."""
    audit = auditor.audits.submit(asked(auditor, audience, "1"))
    counted = failing(at, [ValueError("no such number")])
    store = service.service.store
    if claimed:
        monkeypatch.setattr("api.audits.final_failures.finish_all", lambda _: None)
    for _ in range(3):
        with pytest.raises(OperationalError):
            service.service.worker().run_one()
        assert (state_of(store, audit.id), counted.draws) == ("running", 1)
        forget_lease(store, audit.id)
    unfailing.clear()
    run_all(service)
    ended = auditor.audits.state(audit.id)
    assert (ended.state, ended.failure, counted.draws) == ("failed", "internal", 1)
    assert auditor.budget().mandates[0].spent == audit.price.debit
    assert not final_failures.is_marked(audit.id)


def test_a_failure_after_the_draw_ends_an_audit_that_another_worker_has_taken(
    service: Deployment,
    auditor: Auditor,
    audience: NamedAudience,
    failing: Callable[[Failpoint, list[Exception]], Failing],
    unfailing: list[bool],
) -> None:
    audit = auditor.audits.submit(asked(auditor, audience, "1"))
    counted = failing(Failpoint.SIGNED, [ValueError("no such number")])
    store = service.service.store
    with pytest.raises(OperationalError):
        service.service.worker().run_one()
    with store.write() as session:
        row = session.get_one(AuditRow, audit.id)
        row.claim = "of another worker"
        session.add(row)
    unfailing.clear()
    service.service.worker().run_one()
    assert (state_of(store, audit.id), counted.draws) == ("failed", 1)


def test_releases_that_fail_together_are_not_drawn_again_when_the_database_is_down(
    service: Deployment,
    world: World,
    failing: Callable[[Failpoint, list[Exception]], Failing],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of them raised, nobody knows which: all whose commit then finds no database fail."""
    monkeypatch.setattr(worker, "COMMIT_SECONDS", 0.01)
    auditors = [service.auditor(kinds=["outcome-test"]) for _ in range(2)]
    audits = [each.audits.submit(asked(each, uploaded(each, world), "1")) for each in auditors]
    gone = OperationalError("insert", {}, Exception("gone"))
    counted = failing(Failpoint.RELEASE_WRITTEN, [gone, gone, ValueError("no such number")])
    mine, made = service.service.worker(), list[FinishedRun]()
    assert mine._run_next(made.append)
    assert mine._run_next(made.append)
    with pytest.raises(OperationalError):
        mine._release(made)
    run_all(service)
    states = [state_of(service.service.store, each.id) for each in audits]
    assert states == ["failed", "failed"]
    assert counted.draws == 2


def test_a_failure_before_the_draw_is_tried_again(
    service: Deployment,
    auditor: Auditor,
    audience: NamedAudience,
    failing: Callable[[Failpoint, list[Exception]], Failing],
) -> None:
    audit = auditor.audits.submit(asked(auditor, audience, "1"))
    counted = failing(Failpoint.REDUCED, [ValueError(), ValueError()])
    run_all(service)
    assert auditor.audits.state(audit.id).state == "released"
    assert counted.draws == 1


def test_an_unavailable_database_is_given_the_same_draw_again(
    service: Deployment,
    auditor: Auditor,
    audience: NamedAudience,
    failing: Callable[[Failpoint, list[Exception]], Failing],
) -> None:
    audit = auditor.audits.submit(asked(auditor, audience, "1"))
    full = OperationalError("insert", {}, Exception("database or disk is full"))
    counted = failing(Failpoint.RELEASE_WRITTEN, [full])
    run_all(service)
    assert auditor.audits.state(audit.id).state == "released"
    assert counted.draws == 1
    with service.service.store.read() as session:
        assert releases(session) == 1


class Killed(BaseException):
    """The process is gone: nothing of it is caught."""


@pytest.mark.parametrize("at", AFTER_THE_DRAW)
def test_a_crash_after_the_draw_stores_nothing_of_it(
    service: Deployment,
    auditor: Auditor,
    audience: NamedAudience,
    monkeypatch: pytest.MonkeyPatch,
    at: Failpoint,
) -> None:
    audit = auditor.audits.submit(asked(auditor, audience, "1"))
    draws = list[Failpoint]()

    def killed(boundary: Failpoint) -> None:
        draws.extend([boundary] * (boundary is Failpoint.NOISED))
        if boundary is at and len(draws) == 1:
            raise Killed

    monkeypatch.setattr(failpoints, "hit", killed)
    with pytest.raises(Killed):
        service.service.worker().run_one()
    with service.service.store.read() as session:
        assert releases(session) == 0
    run_all(service)
    assert auditor.audits.state(audit.id).state == "released"
    assert len(draws) == 2
    with service.service.store.read() as session:
        assert releases(session) == 1
    assert auditor.budget().mandates[0].spent == audit.price.debit
