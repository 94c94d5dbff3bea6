"""The platform's side of a hidden audience has a public size, independent of its people (R2)."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from api.app.compose import make_simulated_platform
from api.audiences.uploads import load_groups
from api.db import ChargedPeopleRow
from api.platforms.interfaces import Directory, Persons, Platform
from api.telemetry.metrics import LEFT_OUT
from api.two_party.candidates import load_candidates
from auditor_client import Auditor
from auditor_client.kinds.two_party import metrics
from platform_sim import SOFTWARE_JOB
from tests.two_parties import EDGES, Conversation, auditor_at, integers, weighted
from tests.world import Deployment, deployed, sqlite_url

PLACES = 40


class Some:
    """A platform's directory that lists only its first people."""

    def __init__(self, everybody: Directory) -> None:
        self.persons, self.names = everybody.held("username")
        self.people = PLACES

    def held(self, kind: str) -> tuple[Persons, pa.Array]:
        assert kind == "username"
        return self.persons[: self.people], self.names[: self.people]


@pytest.fixture(scope="module")
def platform() -> Platform:
    return make_simulated_platform(people=120, seed=3)


@pytest.fixture(scope="module")
def some(platform: Platform) -> Some:
    assert platform.directory is not None
    return Some(platform.directory)


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, some: Some
) -> Iterator[Deployment]:
    url = sqlite_url(tmp_path_factory.mktemp("candidates"))
    listed = replace(platform, directory=some)
    with deployed(url, listed, embedded_worker=False, two_party_candidates=PLACES) as running:
        yield running


@pytest.fixture(scope="module")
def auditor(service: Deployment) -> Auditor:
    return auditor_at(service)


def left_out() -> float:
    [family] = LEFT_OUT.collect()
    return next(each.value for each in family.samples if each.name.endswith("_total"))


def talk_of(service: Deployment, auditor: Auditor, some: Some, rows: int) -> Conversation:
    hidden = weighted(auditor, some.names[:rows].to_pylist(), ["a"] * rows, hide=True)
    return Conversation.begin(service, auditor, hidden)


def borne_by(talk: Conversation) -> list[int]:
    """Return the people whom the last run found."""
    with talk.service.store.read() as session:
        [group] = load_groups(session, talk.audit.audience_id)
        assert group.people == b""
        recorded = session.get_one(ChargedPeopleRow, talk.audit.id)
        return [int(person) for person in np.frombuffer(recorded.people, "<i8")]


def test_one_person_too_many_changes_nothing_that_can_be_seen(
    service: Deployment, auditor: Auditor, some: Some
) -> None:
    seen = []
    for people in (PLACES, PLACES + 1):
        some.people, before = people, left_out()
        talk = talk_of(service, auditor, some, PLACES + 1)
        party = talk.party()
        assert talk.talk(party) is None
        assert left_out() - before == people - PLACES
        assert len(borne_by(talk)) == PLACES
        # Everybody who has a place is found; noise of scale 2/10 on each of four sums.
        assert abs(integers(party).sum() / 1_000 - PLACES) < 8
        seen.append(([len(each) for each in talk.said], talk.state, talk.entries("answer")))
    assert seen[0] == seen[1]


def test_somebody_who_is_listed_without_a_name_stops_no_run(
    service: Deployment, auditor: Auditor, some: Some, monkeypatch: pytest.MonkeyPatch
) -> None:
    some.people = 10
    listed = pa.array([*some.names[:9].to_pylist(), None])
    monkeypatch.setattr(some, "held", lambda kind: (some.persons[:10], listed))
    talk = talk_of(service, auditor, some, 10)
    assert talk.talk(talk.party()) is None
    assert borne_by(talk) == sorted(some.persons[:9].tolist())


def test_who_has_a_place_is_drawn_once_for_a_charge_and_anew_for_the_next(
    service: Deployment, auditor: Auditor, some: Some
) -> None:
    some.people = PLACES + 30
    drawn = []
    for _ in range(2):
        talk = talk_of(service, auditor, some, PLACES + 30)
        with pytest.MonkeyPatch.context() as broken:
            broken.setattr("api.two_party.platform_half.values_of", lambda *_: lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                talk.talk(talk.party())
        first = borne_by(talk)
        talk.die()
        assert talk.talk(talk.party()) is None
        assert borne_by(talk) == first
        assert len(first) == PLACES
        drawn.append(first)
    # The same forty of seventy by chance: below 1e-19.
    assert drawn[0] != drawn[1]


def test_a_second_run_is_compared_with_recorded_people_alone(
    service: Deployment, some: Some
) -> None:
    """Nobody else takes a place, even if people have joined since."""
    some.people = PLACES + 30
    recorded = np.sort(some.persons[5:15])
    asked = (service.service.platform, "username", PLACES, "audit_1", service.service.settings)
    assert np.array_equal(np.sort(load_candidates(*asked, recorded).persons), recorded)
    assert len(load_candidates(*asked).persons) == some.people


def test_the_price_counts_displaced_people(
    service: Deployment, auditor: Auditor, some: Some
) -> None:
    def scale(hide: bool) -> float:
        people = weighted(auditor, some.names[:5].to_pylist(), ["a"] * 5, hide=hide)
        metric = metrics.histogram(auditor.contents.upload(**SOFTWARE_JOB), EDGES)
        asked = auditor.audits.requests.two_party(metric, people)
        [part] = auditor.audits.quote(asked).price.parts
        return part.noise_scale

    assert scale(hide=True) == 2 * scale(hide=False)
