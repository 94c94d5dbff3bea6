"""Slots for uploads: one auditor cannot take all, and nobody waits for one without a limit."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from api.audiences import part_upload
from api.platforms.interfaces import Persons, Platform
from platform_sim import World
from tests.system.raw import Raw, csv, raw, refused, stored, usernames
from tests.world import Deployment, deployed


@pytest.fixture(scope="module")
def small(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    with deployed(new_database(), platform, embedded_worker=False, uploads_at_once=2) as running:
        yield running


@contextmanager
def platform_that_hangs(small: Deployment, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Answer about nobody alone, until the end of this context."""
    people, answer = type(small.service.platform.people), threading.Event()
    match = people.match

    def hanging(*asked: Any) -> Persons:
        if len(asked[-1]):
            assert answer.wait(120)
        return match(*asked)

    with patch.context() as patched:
        patched.setattr(people, "match", hanging)
        try:
            yield
        finally:
            answer.set()
            small.service.matcher.drain(60)


def opened(me: Raw) -> str:
    made: str = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
    return made


def test_one_auditor_does_not_take_the_slots_of_another(
    small: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_upload, "SLOT_PATIENCE", timedelta(seconds=1))
    body, slots = csv(usernames(world, 5)), small.service.matcher.slots.parts
    greedy, other = raw(small, small.auditor()), raw(small, small.auditor())
    audience, another = opened(greedy), opened(other)
    with platform_that_hangs(small, monkeypatch):

        def put(part: int) -> Any:
            return greedy.put(audience, "g0", body, part=part)

        # As many as one auditor may have in progress.
        with ThreadPoolExecutor(4) as threads:
            answers = list(threads.map(put, range(slots + 2)))
        accepted = [answer for answer in answers if answer.is_success]
        assert len(accepted) == slots - 1
        assert other.put(another, "g0", body).is_success
        before = stored(small.service.store)
        for late in (answer for answer in answers if not answer.is_success):
            refused(late, "unavailable", "Nothing was stored")
            assert int(late.headers["retry-after"]) > 0
        refused(greedy.put(audience, "g0", body, part=99), "unavailable")
        assert stored(small.service.store) == before
    # The quota did not count what was refused, and the slots are free again.
    assert greedy.put(audience, "g0", body, part=99).is_success
    assert greedy.seal(audience)["state"] == other.seal(another)["state"] == "sealed"


def test_an_upload_that_waits_gets_the_next_slot(
    small: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, slots = csv(usernames(world, 5)), small.service.matcher.slots
    me = raw(small, small.auditor())
    audience = opened(me)
    with ThreadPoolExecutor(1) as threads:
        with platform_that_hangs(small, monkeypatch):
            for part in range(slots.parts - 1):
                assert me.put(audience, "g0", body, part=part).is_success
            waiting = threads.submit(me.put, audience, "g0", body, part=slots.parts)
            while not slots._waiting:
                assert not waiting.done()
        assert waiting.result(60).is_success
    small.service.matcher.drain(60)
    assert not slots._active
    assert not slots._waiting
