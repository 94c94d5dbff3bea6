"""Uneven platforms: who matched, or makes the adapter fail, cannot be told by when parts are ready.

Matching is unpaid and repeatable, so that an auditor could time it again and again. Parts are sent
to the real service. They are matched by the real matcher in virtual time, which moves while
somebody sleeps or the platform works: what an auditor could see is compared exactly. Nothing here
fails by chance.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pyarrow as pa
import pytest

from api.audiences import uploads
from api.audiences.background_matcher import Matcher
from api.audiences.matching import count_matching_work
from api.audiences.matching_slots import Ticket
from api.audiences.parsing import Members
from api.audiences.uploads import ClaimedPart
from api.platforms.interfaces import NOBODY, People, Persons
from api.platforms.public_pace import STEP, Pace
from platform_sim import World
from tests.attacks.outside import run
from tests.system.raw import csv, raw, request_for, usernames
from tests.world import Deployment

SIZE = 20
# The public work of a part of that many user names.
WORK = count_matching_work(Members("username", pa.array(["ada"] * SIZE)))
# A call takes 0.2 ms, each person found 1 ms, each error 5 ms.
CALL, HIT, ERROR = 0.0002, 0.001, 0.005
SLOWEST = SIZE * HIT + 40 * (CALL + ERROR)


@dataclass
class VirtualTime:
    """Time that moves while somebody sleeps, up to when the platform is ready in between."""

    now: float = 0.0
    working: list[tuple[float, threading.Event]] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        """Be busy for this long, in a thread that matches."""
        ready = threading.Event()
        self.working.append((self.now + seconds, ready))
        assert ready.wait(30)

    def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        while self._is_working() and self.working[0][0] <= until:
            self.now, ready = self.working.pop()
            ready.set()
        self.now = until

    def _is_working(self) -> bool:
        """Whether the platform has more to do; it is waited for until it says how long."""
        while not self.working:
            if not any(thread.name == "match" for thread in threading.enumerate()):
                return False
            time.sleep(0.0005)
        return True


@dataclass
class UnevenPeople:
    """People for whom the platform needs longer if it finds them, and fails for one."""

    people: People
    time: VirtualTime
    victim: str | None = None

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        found = self.people.match(kind, identifiers)
        fails = self.victim in identifiers.to_pylist()
        self.time.work(CALL + HIT * np.count_nonzero(found != NOBODY) + ERROR * fails)
        if fails:
            raise ValueError("who is this?")
        return found


@dataclass
class Bench:
    """A service whose parts are matched in virtual time, at this pace."""

    target: Deployment
    pace: Pace
    time: VirtualTime
    see_to: Callable[[Matcher, ClaimedPart], None] = Matcher.see_to
    accepted: list[ClaimedPart] = field(default_factory=list)

    def ready_after(self, names: list[str], victim: str | None = None) -> float:
        """When a part of these names can be sealed, in seconds after it was answered for."""
        me = raw(self.target, self.target.auditor())
        audience = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
        assert me.put(audience, "g0", csv(names)).is_success
        part, service = self.accepted.pop(), self.target.service
        part = part._replace(seconds=self.pace.duration(count_matching_work(part.members)))
        people = UnevenPeople(service.platform.people, self.time, victim)
        given = service.store, cast("People", people), service.settings, self.pace
        begun = self.time.now
        self.see_to(Matcher(*given, self.time, self.time.sleep), part)
        ended = self.time.now - begun
        assert me.seal(audience)["state"] == "sealed"
        return round(ended, 9)


@pytest.fixture
def bench(target: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A platform that declares its pace as it is: nobody is ever late."""
    clock = VirtualTime()
    made = Bench(target, Pace(SLOWEST, 1_000_000, clock), clock)

    def begin(self: Matcher, part: ClaimedPart, ticket: Ticket) -> None:
        made.accepted.append(part)
        self.slots.leave(ticket)

    monkeypatch.setattr(Matcher, "begin", begin)
    yield made
    run(target)


def audiences(world: World) -> list[tuple[list[str], str | None]]:
    """Members, strangers, half and half; and some in which somebody makes the adapter fail."""
    members = usernames(world, SIZE)
    strangers = usernames(world, SIZE, strangers=True)
    mixed = members[: SIZE // 2] + strangers[SIZE // 2 :]
    failing = [(mixed, name) for name in (mixed[0], mixed[7], mixed[-1])]
    return [(members, None), (strangers, None), (mixed, None), *failing]


def test_when_a_part_can_be_sealed_does_not_tell_who_matched(bench: Bench, world: World) -> None:
    assert {bench.ready_after(*each) for each in audiences(world)} == {
        round(bench.pace.duration(WORK), 9)
    }


def test_without_a_pace_matches_are_revealed(bench: Bench, world: World) -> None:
    """The twin: a part is written down as soon as it is matched."""

    def at_once(matcher: Matcher, part: ClaimedPart) -> None:
        result = matcher._start(part)
        while not result.done():
            matcher.sleep(0.0001)
        uploads.store_matches(matcher.store, part, result.result())

    bench.see_to = at_once
    members, strangers, mixed, *failing = (bench.ready_after(*each) for each in audiences(world))
    assert members > mixed > strangers
    assert min(failing) > mixed


def test_a_platform_that_is_slower_than_it_declares_shows_it_once(
    bench: Bench, world: World
) -> None:
    """The remaining leak: the first late part is visible, and no other until the level falls."""
    bench.pace = Pace(0.002, 1_000_000, bench.time)
    members, strangers = usernames(world, SIZE), usernames(world, SIZE, strangers=True)
    declared = bench.pace.duration(WORK)
    assert bench.ready_after(strangers) == round(declared, 9)
    late = bench.ready_after(members)
    steps = math.ceil(math.log((CALL + SIZE * HIT) / declared, STEP))
    assert late == round(STEP**steps * declared, 9)
    after = [bench.ready_after(each) for each in (strangers, members, strangers, members)]
    assert set(after) == {late}


def test_parts_are_answered_for_before_anybody_is_looked_for(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The platform answers about nobody alone, and parts are accepted."""
    looked = threading.Event()
    original = type(target.service.platform.people).match

    def never(self: People, kind: str, identifiers: pa.Array) -> Persons:
        if len(identifiers):
            assert looked.wait(60)
        return original(self, kind, identifiers)

    target.service.matcher.drain(60)
    me = raw(target, target.auditor())
    with monkeypatch.context() as patch:
        patch.setattr(type(target.service.platform.people), "match", never)
        opened = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
        try:
            assert me.put(opened, "g0", csv(usernames(world, SIZE))).is_success
            [group] = me.get(f"/v1/audiences/{opened}").json()["groups"]
            assert (group["members"], len(group["parts"])) == (SIZE, 1)
        finally:
            looked.set()
            target.service.matcher.drain(60)
    sealed = me.seal(opened)
    assert me.submit(request_for(me.content(), sealed, epsilon="0.01")).is_success
    run(target)
