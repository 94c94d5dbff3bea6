"""Auditors take turns, the queue is bounded, and what would take too much memory is not begun."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from api.audits.queue.heartbeats import SILENCE
from api.db import AuditRow, ProcessRow, Store
from api.platforms.interfaces import Platform
from platform_sim import World
from tests.system.raw import Raw, raw, refused, request_for, unchanged, usernames
from tests.world import Deployment, deployed

EACH, ALL = 4, 6


@pytest.fixture(scope="module")
def host(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    limits = {"waiting_per_auditor": EACH, "waiting_in_all": ALL, "running_per_auditor": 1}
    kept = {"embedded_worker": False, "lease_seconds": 600.0, "audit_memory_bytes": 2**28}
    with deployed(new_database(), platform, **limits, **kept) as running:
        yield running


@dataclass(frozen=True)
class Someone:
    """A researcher of their own auditor, with a sealed audience of a given size."""

    me: Raw
    request: dict[str, Any]

    def submit(self, count: int = 1) -> list[str]:
        answers = [self.me.submit(self.request) for _ in range(count)]
        return [answer.json()["id"] for answer in answers]


def arrived(deployment: Deployment, world: World, members: int = 4) -> Someone:
    me = raw(deployment, deployment.auditor(kinds=["score-histogram"]))
    names = usernames(world, members)
    sealed = me.audience({"g0": names[::2], "g1": names[1::2]})
    return Someone(me, request_for(me.content(), sealed))


@pytest.fixture
def comes(host: Deployment, world: World) -> Iterator[Callable[[int], Someone]]:
    """Makes researchers; the queue is empty before and after."""
    yield partial(arrived, host, world)
    while host.service.worker().run_one():
        pass


def served(host: Deployment, count: int) -> None:
    for _ in range(count):
        assert host.service.worker().run_one()


def states(store: Store, audits: list[str]) -> list[str]:
    with store.read() as session:
        return [session.get_one(AuditRow, audit).state for audit in audits]


def test_who_asks_for_little_is_not_kept_by_who_asks_for_much(
    host: Deployment, comes: Callable[[], Someone]
) -> None:
    greedy, modest = comes(), comes()
    many, few = greedy.submit(EACH), modest.submit(2)
    served(host, 5)
    assert states(host.service.store, few) == ["released"] * 2
    assert states(host.service.store, many).count("released") == 3
    # Alone again, one is served as one came.
    served(host, EACH - 3)
    assert states(host.service.store, many) == ["released"] * EACH


def test_an_audit_of_many_people_counts_as_many_turns(
    host: Deployment, comes: Callable[[int], Someone], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.audits.queue.fair_queue.BATCH", 10)
    huge, small = comes(40), comes(4)
    large, little = huge.submit(3), small.submit(3)
    served(host, 4)
    assert states(host.service.store, large) == ["released", "charged", "charged"]
    assert states(host.service.store, little) == ["released"] * 3


def test_nobody_has_all_workers(host: Deployment, comes: Callable[[], Someone]) -> None:
    greedy, modest = comes(), comes()
    [mine, *_], [theirs] = greedy.submit(3), modest.submit()
    workers = [host.service.worker() for _ in range(3)]
    claimed = [worker._claim() for worker in workers]
    assert [row.id if row else None for row in claimed] == [mine, theirs, None]
    for worker, row in zip(workers, claimed[:2], strict=False):
        assert row is not None
        worker.leases.track(row)
    workers[0].hand_over()  # and the next worker takes the rest
    again = workers[2]._claim()
    assert again is not None
    assert again.id == mine
    workers[2].leases.track(again)
    for worker in workers[1:]:
        worker.hand_over()


def test_with_few_workers_one_is_left_to_others(
    new_database: Callable[[], str], platform: Platform, world: World
) -> None:
    """As the settings come: huge audits that run do not keep the small one of somebody else."""
    with deployed(new_database(), platform, embedded_worker=False, lease_seconds=600.0) as running:
        for _ in range(2):
            running.service.heartbeat(serves=False).write_row()
        greedy, modest = arrived(running, world, 40), arrived(running, world, 4)
        [first, *_] = greedy.submit(3)
        workers = [running.service.worker() for _ in range(2)]
        claimed = [worker._claim() for worker in workers]
        assert [row.id if row else None for row in claimed] == [first, None]
        [small] = modest.submit()
        assert workers[1].run_one()
        assert states(running.service.store, [small]) == ["released"]


def test_processes_that_died_are_not_workers(
    new_database: Callable[[], str], platform: Platform, world: World
) -> None:
    with deployed(new_database(), platform, embedded_worker=False, lease_seconds=600.0) as running:
        heartbeats = [running.service.heartbeat(serves=False) for _ in range(5)]
        for each in heartbeats:
            each.write_row()
        with running.service.store.write() as session:
            silent = session.get_one(ProcessRow, heartbeats[0].id)
            silent.seen_at -= 2 * SILENCE
            session.add(silent)
        heartbeats[1].delete_row()
        arrived(running, world).submit(4)
        claimed = [running.service.worker()._claim() for _ in range(3)]
        # Three are left, and one of them is for others.
        assert [row is not None for row in claimed] == [True, True, False]


def test_a_full_line_takes_no_more_and_charges_nothing(
    host: Deployment, comes: Callable[[], Someone]
) -> None:
    greedy, modest, late = comes(), comes(), comes()
    first = greedy.me.submit(greedy.request, key="the-first-one")
    greedy.submit(EACH - 1)
    with unchanged(host.service.store):
        answer = greedy.me.submit(greedy.request)
        refused(answer, "queue-full", f"{EACH} of your audits", "Nothing was charged", "10 s")
        assert answer.headers["retry-after"] == "10"
        # What was taken before is answered as before.
        again = greedy.me.submit(greedy.request, key="the-first-one")
        assert again.json() == first.json()
    modest.submit(ALL - EACH)
    with unchanged(host.service.store):
        refused(late.me.submit(late.request), "queue-full", "other auditors", "Nothing was charged")
    served(host, 1)
    assert late.me.submit(late.request).is_success


def test_what_would_not_fit_is_refused_before_it_is_charged(
    host: Deployment, comes: Callable[[], Someone], monkeypatch: pytest.MonkeyPatch
) -> None:
    someone = comes()
    with monkeypatch.context() as patch:
        patch.setattr(
            "api.audits.memory_limits.MEMBER_BYTES", 2**27
        )  # as if the four were millions
        with unchanged(host.service.store):
            answer = someone.me.post("/v1/audits/price", someone.request)
            problem = refused(answer, "audit-too-large", "charged", "fewer")
            refused(someone.me.submit(someone.request), "audit-too-large", "256 MiB")
    assert problem["limit"] == 2**28 < 4 * 2**27 < problem["needed"]
    assert someone.me.submit(someone.request).is_success


def test_each_charge_counts_the_audits_that_wait(
    host: Deployment, comes: Callable[[int], Someone]
) -> None:
    """The gate sheds quotes by this count."""
    ada, bob = comes(4), comes(4)
    ada.submit(2)
    assert sorted(host.service.backlog.waiting.values()) == [2]
    bob.submit()
    assert sorted(host.service.backlog.waiting.values()) == [1, 2]
    served(host, 2)
    bob.submit()
    assert sum(host.service.backlog.waiting.values()) == 2
