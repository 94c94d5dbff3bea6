"""Timing: does it take longer when somebody matched?

Twenty identifiers of members against twenty of strangers, interleaved. Caught is what is slower by
more than 25 ms, a good deal less than what varies on the way to a service, with a Mann–Whitney
p below 1e-6: so a difference of less than that fails with less than 1e-6 (seven tests).
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu
from sqlalchemy import event

from api.accounting import lifetime_caps as persons
from api.accounting.lifetime_caps import LifetimeDebit
from api.accounting.memberships import load_membership
from api.audits import request_pricing
from api.platforms.interfaces import NOBODY, Persons, Platform
from api.platforms.public_pace import Pace, ReleasePace
from api.telemetry.metrics import LATE_PARTS
from platform_sim import SimulatedPlatform, World
from privacy.tables.membership import Membership
from tests.attacks.conftest import REAL
from tests.attacks.outside import HISTOGRAM, run
from tests.system.adapters import Faulty, Watched, on
from tests.system.raw import Raw, csv, raw, request_for, usernames
from tests.world import Deployment, deployed, sqlite_url

pytestmark = pytest.mark.long

REPETITIONS = 40
FEW = 16
TOLERATED = 0.025
ALARM = 1.4e-7
# What the twins take for each person: twenty of them are a fifth of a second.
DELAY = 0.01
# What an uneven platform takes longer for each person it finds: ten of them in a part.
HIT = 0.006
Seconds = NDArray[np.float64]


@dataclass(frozen=True)
class Laps:
    """The duration of each step, by repetition."""

    upload: Seconds
    seal: Seconds
    submit: Seconds
    run: Seconds
    erase: Seconds


def lap(step: Callable[[], Any]) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def once(target: Deployment, me: Raw, content: Mapping[str, Any], names: list[str]) -> list[float]:
    audience = me.made("/v1/audiences", {"groups": ["g0", "g1"]})
    body = request_for(content, audience, kind=HISTOGRAM, epsilon="0.001")

    def upload() -> None:
        for label, some in (("g0", names[:10]), ("g1", names[10:])):
            assert me.put(audience["id"], label, csv(some)).is_success

    return [
        lap(upload),
        lap(lambda: me.seal(audience["id"])),
        lap(lambda: me.submit(body)),
        lap(lambda: run(target)),
        lap(lambda: me.call("DELETE", f"/v1/audiences/{audience['id']}")),
    ]


def measure(target: Deployment, world: World, repetitions: int) -> tuple[Laps, Laps]:
    """Laps with members, all over the platform, and with strangers, in turn."""
    me = raw(target, target.auditor())
    content = me.content()
    names = [usernames(world, 5_000, strangers=strangers)[::250] for strangers in (False, True)]
    laps: list[list[list[float]]] = [[], []]
    for repetition in range(repetitions + 3):
        for side in (0, 1) if repetition % 2 else (1, 0):
            laps[side].append(once(target, me, content, names[side]))
    members, strangers = (Laps(*np.array(side[3:]).T) for side in laps)
    return members, strangers


def slower(members: Seconds, strangers: Seconds) -> bool:
    found = mannwhitneyu(members - TOLERATED, strangers, alternative="greater")
    return bool(found.pvalue < ALARM)


@pytest.mark.parametrize("step", ["upload", "seal", "submit", "run", "erase"])
def test_members_take_no_longer_than_strangers(laps: tuple[Laps, Laps], step: str) -> None:
    members, strangers = (getattr(side, step) for side in laps)
    assert not slower(members, strangers)


@pytest.fixture(scope="module")
def laps(target: Deployment, world: World) -> tuple[Laps, Laps]:
    return measure(target, world, REPETITIONS)


def test_a_model_that_takes_its_time_for_each_person_is_caught(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Watched.score

    def slow(self: Watched, content: Any, people: Persons, context: Any) -> Any:
        time.sleep(DELAY * len(people))
        return original(self, content, people, context)

    monkeypatch.setattr(Watched, "score", slow)
    members, strangers = measure(target, world, 25)
    assert slower(members.run, strangers.run)
    assert not slower(members.seal, strangers.seal)


@pytest.fixture
def uneven(target: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform that takes longer for each person it finds, on a service that has just started."""
    original = SimulatedPlatform.match

    def slow(self: SimulatedPlatform, kind: str, identifiers: Any) -> Persons:
        found = original(self, kind, identifiers)
        time.sleep(HIT * np.count_nonzero(found != NOBODY))
        return found

    settings = target.service.settings
    pace = Pace(settings.match_seconds, settings.match_rate)
    monkeypatch.setattr(target.service.matcher, "pace", pace)
    monkeypatch.setattr(SimulatedPlatform, "match", slow)


@pytest.mark.full
@pytest.mark.usefixtures("uneven")
def test_who_matched_cannot_be_timed_on_a_platform_that_takes_longer_for_members(
    target: Deployment, world: World
) -> None:
    """The platform is slower than it declares: the first uploads raise the level, and are not
    measured. All later ones take the same public time. `test_matching_time` has the twins.
    """
    late = LATE_PARTS._value.get()
    members, strangers = measure(target, world, FEW)
    assert LATE_PARTS._value.get() > late
    assert not slower(members.upload, strangers.upload)
    assert not slower(members.seal, strangers.seal)


@dataclass
class Clocked(Faulty):
    """Fails for the victim if the content says so; each call takes 3 ms of a clock of its own."""

    now: float = 0.0

    def score(self, content: Mapping[str, Any], persons: Persons, context: Any) -> Any:
        self.now += 0.003
        return super().score(content, persons, context)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(scope="module")
def clocked(platform: Platform) -> Clocked:
    assert platform.scores is not None
    return Clocked(platform.scores)


@pytest.fixture(scope="module")
def paced(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, clocked: Clocked
) -> Iterator[Deployment]:
    """A service with a pace of releases, which suffices for one failing person."""
    url = sqlite_url(tmp_path_factory.mktemp("paced"))
    with deployed(url, on(platform, clocked), **REAL, audit_seconds=0.5) as running:
        yield running


@pytest.mark.parametrize("pace", ["declared", "none"])
def test_when_an_audit_is_released_does_not_tell_whether_the_adapter_failed_for_somebody(
    paced: Deployment, world: World, clocked: Clocked, pace: str
) -> None:
    """By a clock that moves with calls and sleep alone: the same to the microsecond."""
    me, names = raw(paced, paced.auditor()), usernames(world, 50)
    found = paced.service.platform.people.match("username", pa.array(names))
    audience = me.audience({"g0": names})
    settings = paced.service.settings
    if pace == "none":  # the twin
        settings = settings.model_copy(update={"audit_seconds": 0.0})
    took = []
    for victim in (-1, *found[:3], *found[-3:]):
        clocked.victim = int(victim)
        me.submit(request_for(me.content(title="raises"), audience, kind=HISTOGRAM, epsilon="0.01"))
        worker = paced.service.worker()
        worker.pace = ReleasePace(settings, lambda: clocked.now, clocked.sleep)
        begun = clocked.now
        assert worker.run_one()
        took.append(round(clocked.now - begun, 6))
    nobody, *somebody = took
    assert len(set(somebody)) == 1  # for every person
    assert (nobody == somebody[0]) == (pace == "declared")


@pytest.mark.full
def test_charging_that_takes_its_time_for_each_person_is_caught(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = persons.charge

    def slow(session: Any, burdens: Sequence[LifetimeDebit], cap: Fraction) -> Any:
        time.sleep(DELAY * sum(len(each.membership.everyone()) for each in burdens))
        return original(session, burdens, cap)

    monkeypatch.setattr(persons, "charge", slow)
    members, strangers = measure(target, world, 25)
    assert slower(members.submit, strangers.submit)


@pytest.mark.full
def test_erasing_that_takes_its_time_for_each_person_is_caught(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = persons.carry_over

    def slow(session: Any, membership: Membership, *rest: Any, **how: Any) -> None:
        time.sleep(DELAY * len(membership.everyone()))
        original(session, membership, *rest, **how)

    monkeypatch.setattr(persons, "carry_over", slow)
    members, strangers = measure(target, world, 25)
    assert slower(members.erase, strangers.erase)


def reads_people(target: Deployment, world: World, epsilon: str) -> bool:
    """Whether whom the audience found is read when an auditor with this mandate asks."""
    me = raw(target, target.auditor(epsilon))
    body = request_for(me.content(), me.audience({"g0": usernames(world, 5)}), epsilon="1")
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    event.listen(target.service.store.engine, "before_cursor_execute", note)
    try:
        answer = me.submit(body)
    finally:
        event.remove(target.service.store.engine, "before_cursor_execute", note)
    assert answer.is_success == (epsilon == "100"), answer.text
    return any("audience_groups.people" in statement for statement in asked)


@pytest.mark.parametrize("epsilon", ["0", "0.5"])
def test_an_audit_that_is_refused_reads_nobody(
    target: Deployment, world: World, epsilon: str
) -> None:
    """It costs nothing and can be asked again and again: any difference in time would be seen."""
    assert not reads_people(target, world, epsilon)


def test_reading_people_before_they_are_paid_for_is_caught(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = request_pricing.load_subject

    def early(session: Any, *rest: Any) -> Any:
        found = original(session, *rest)
        load_membership(session, found.audience)
        return found

    assert reads_people(target, world, "100")
    monkeypatch.setattr(request_pricing, "load_subject", early)
    assert reads_people(target, world, "0.5")
