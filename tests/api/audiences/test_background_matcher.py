"""Background matching: parts are stored at public times, independent of whom they found."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from sqlalchemy.exc import OperationalError
from sqlmodel import select

from api.audiences import uploads
from api.audiences.background_matcher import ATTEMPTS, MOST_BYTES, SLOTS_PER_UPLOAD, Matcher
from api.audiences.matching import bind, count_matching_work
from api.audiences.parsing import Members
from api.audiences.uploads import ClaimedPart
from api.db import AudienceRow, AuditorRow, GroupRow, PartRow, ResearcherRow, Store, insert
from api.kernel.clock import EPOCH, now
from api.kernel.settings import Settings
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import People, Persons
from api.platforms.public_pace import STEP, Pace
from api.telemetry.metrics import LATE_PARTS
from tests.databases import prepare
from tests.world import make_settings, sqlite_url

SECONDS, RATE, ROWS = 0.5, 1_000, 40
PART = Members("username", pa.array([f"u{number}" for number in range(ROWS)]))
DURATION = SECONDS + count_matching_work(PART) / RATE


@dataclass
class Time:
    """A clock that moves when somebody sleeps; `meanwhile` is done in each sleep."""

    now: float = 100.0
    slept: list[float] = field(default_factory=list)
    meanwhile: Callable[[int], None] = lambda _: None

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.meanwhile(len(self.slept))
        self.slept.append(seconds)
        self.now += seconds


class Uneven:
    """Holds all members or none, fails for one, and answers about somebody when it is let go."""

    def __init__(self, *, everybody: bool = True, victim: str | None = None) -> None:
        self.everybody, self.victim = everybody, victim
        self.down = 0
        self.let_go, self.ready = threading.Event(), threading.Event()
        self.let_go.set()
        self.calls = 0

    def match(self, _: str, identifiers: pa.Array) -> Persons:
        self.calls += 1
        if self.down:
            self.down -= len(identifiers) == 0
            raise PlatformDownError("gone")
        assert self.let_go.wait(30)
        if self.victim in identifiers.to_pylist():
            raise ValueError("who is this?")
        return np.arange(len(identifiers)) if self.everybody else np.full(len(identifiers), -1)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_settings(sqlite_url(tmp_path), "http://localhost")


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    store = Store(settings.database_url)
    prepare(store)
    with store.write() as session:
        at = now()
        session.add(AuditorRow(id="auditor_1", name="Lab", created_at=at))
        session.flush()
        session.add(
            ResearcherRow(
                id="researcher_1", auditor_id="auditor_1", name="Ada", role="auditor", created_at=at
            )
        )
        session.flush()
        session.add(
            AudienceRow(
                id="audience_1",
                auditor_id="auditor_1",
                researcher_id="researcher_1",
                state="open",
                source="upload",
                groups_per_person=1,
                created_at=at,
                expires_at=at + timedelta(days=1),
            )
        )
        session.flush()
        session.add(GroupRow(audience_id="audience_1", label="g0", members=ROWS))
    yield store
    store.close()


@pytest.fixture
def part(store: Store, settings: Settings) -> ClaimedPart:
    row = PartRow(
        audience_id="audience_1",
        label="g0",
        number=0,
        kind="username",
        rows=ROWS,
        digest="sha256:0",
        data=b"",
        claim="mine",
        due_at=now() + timedelta(seconds=DURATION),
    )
    with store.write() as session:
        insert(session, row)
    return ClaimedPart("audience_1", "g0", 0, "mine", PART, bind(PART, settings), DURATION)


@dataclass
class Scene:
    """A matcher on a clock of its own, and when its part was written down."""

    store: Store
    settings: Settings
    people: Uneven
    time: Time = field(default_factory=Time)

    def __post_init__(self) -> None:
        self.pace = Pace(SECONDS, RATE, self.time)
        self.matcher = Matcher(
            self.store,
            cast("People", self.people),
            self.settings,
            self.pace,
            self.time,
            self.time.sleep,
        )

    def row(self) -> PartRow | None:
        with self.store.read() as session:
            return session.exec(select(PartRow)).first()


@contextmanager
def waiting_for_threads() -> Iterator[Callable[[int], None]]:
    """Give a function to sleep by, in which threads that match come to their end."""

    def finish(_: int) -> None:
        for thread in threading.enumerate():
            if thread.name == "match":
                thread.join(30)

    yield finish


@pytest.mark.parametrize("everybody", [True, False])
@pytest.mark.parametrize("victim", [None, "u0", "u39"])
def test_a_part_is_stored_at_its_public_time_regardless_of_matches(
    store: Store, settings: Settings, part: ClaimedPart, everybody: bool, victim: str | None
) -> None:
    scene = Scene(store, settings, Uneven(everybody=everybody, victim=victim))
    with waiting_for_threads() as scene.time.meanwhile:
        scene.matcher.see_to(part)
    assert scene.time.slept == [pytest.approx(DURATION)]
    row = scene.row()
    assert row is not None
    assert (row.claim, row.due_at, len(row.data)) == (None, None, 8 * ROWS)
    assert row.tokens is not None
    assert row.sketch is not None
    nobody = np.frombuffer(row.data, "<i8") < 0
    assert nobody.sum() == (ROWS if not everybody else int(victim is not None))


@pytest.mark.parametrize("steps", [1, 3])
def test_a_late_part_is_stored_at_the_next_public_time_and_reported(
    store: Store,
    settings: Settings,
    part: ClaimedPart,
    steps: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene(store, settings, Uneven())
    scene.people.let_go.clear()
    late = LATE_PARTS._value.get()

    with waiting_for_threads() as finish:

        def meanwhile(turn: int) -> None:
            if turn == steps:
                scene.people.let_go.set()
                finish(turn)

        scene.time.meanwhile = meanwhile
        scene.matcher.see_to(part)
    assert scene.time.now - 100.0 == pytest.approx(DURATION * STEP**steps)
    assert LATE_PARTS._value.get() - late == 1
    assert [record.msg for record in caplog.records] == ["matching.late"]
    # The next part of its size takes as long, whether it would have been late or not.
    assert scene.matcher.duration(PART) == pytest.approx(DURATION * STEP**steps)
    row = scene.row()
    assert row is not None
    assert row.claim is None


def test_a_part_that_takes_long_is_not_taken_for_lost(
    store: Store, settings: Settings, part: ClaimedPart, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, written = Scene(store, settings, Uneven()), list[float]()
    scene.people.let_go.clear()
    postpone = uploads.postpone_part

    def noted(store: Store, part: ClaimedPart, seconds: float) -> None:
        written.append(scene.time.now + seconds - 100.0)
        postpone(store, part, seconds)

    monkeypatch.setattr(uploads, "postpone_part", noted)
    with waiting_for_threads() as finish:

        def meanwhile(turn: int) -> None:
            if scene.time.now > 400.0:
                scene.people.let_go.set()
                finish(turn)

        scene.time.meanwhile = meanwhile
        scene.matcher.see_to(part)
    known = [DURATION, *written]
    # Every next time is written down before the one before is over for as long as it may be.
    late = [after / STEP - before for before, after in pairwise(known)]
    assert len(written) > 5
    assert max(late) < uploads.GRACE.total_seconds()


def test_a_part_that_was_replaced_is_not_written_down(
    store: Store, settings: Settings, part: ClaimedPart
) -> None:
    scene = Scene(store, settings, Uneven())
    with waiting_for_threads() as scene.time.meanwhile:
        scene.matcher.see_to(part._replace(claim="another"))
    row = scene.row()
    assert row is not None
    assert (row.claim, row.data) == ("mine", b"")


def test_a_short_outage_is_waited_out_and_a_long_one_loses_the_part(
    store: Store, settings: Settings, part: ClaimedPart
) -> None:
    scene = Scene(store, settings, Uneven())
    scene.people.down = 1
    with waiting_for_threads() as scene.time.meanwhile:
        scene.matcher.see_to(part)
    assert scene.time.now - 100.0 == pytest.approx(2 * DURATION)
    # That it was down has nothing to do with people.
    assert scene.matcher.duration(PART) == DURATION

    with store.write() as session:
        row = session.exec(select(PartRow)).one()
        row.claim, row.due_at = "mine", now()
        session.add(row)
    scene = Scene(store, settings, Uneven())
    scene.people.down = ATTEMPTS
    with waiting_for_threads() as scene.time.meanwhile:
        scene.matcher.see_to(part)
    found = scene.row()
    assert found is not None
    assert (found.claim, found.due_at) == ("mine", EPOCH)


def test_a_database_that_is_down_is_waited_for(
    store: Store, settings: Settings, part: ClaimedPart, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, failures, deliver = Scene(store, settings, Uneven()), [1, 2], uploads.store_matches

    def now_and_then(*given: Any) -> None:
        if failures:
            failures.pop()
            raise OperationalError("UPDATE", {}, Exception("gone"))
        deliver(*given)

    monkeypatch.setattr(uploads, "store_matches", now_and_then)
    with waiting_for_threads() as scene.time.meanwhile:
        scene.matcher.see_to(part)
    assert scene.time.now - 100.0 == pytest.approx(4 * DURATION)
    row = scene.row()
    assert row is not None
    assert row.claim is None


def test_a_part_gives_its_slot_back_when_it_is_written_down(
    store: Store, settings: Settings, part: ClaimedPart
) -> None:
    scene = Scene(store, settings, Uneven())
    slots = scene.matcher.slots
    assert slots.parts == SLOTS_PER_UPLOAD * settings.uploads_at_once
    ticket, other = slots.wait_for("auditor_1", MOST_BYTES), slots.wait_for("auditor_2", 1)
    assert slots.take(ticket)
    assert not slots.take(other)
    with waiting_for_threads() as scene.time.meanwhile:
        scene.matcher.begin(part, ticket)
        scene.matcher.drain(30)
    assert slots.take(other)


def test_all_accepted_parts_are_matched_at_once(
    store: Store, settings: Settings, part: ClaimedPart
) -> None:
    """A part that waited for another would be late by the time that one took."""
    scene = Scene(store, settings, Uneven())
    scene.people.let_go.clear()
    accepted = scene.matcher.slots.parts
    results = [scene.matcher._start(part) for _ in range(accepted)]
    while scene.people.calls < accepted:
        time.sleep(0.001)
    scene.people.let_go.set()
    assert all(result.result(30) is not None for result in results)
