"""The people of a hidden audience belong to the charge: recorded and debited before they are read.

A run that has begun to read makes the set final. Until then another run may replace it, and a
cancellation gives back to exactly the people in it.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlmodel import select

from api.accounting.balance_blocks import Blocks
from api.accounting.people_digest import BEFORE_0015
from api.app.compose import make_simulated_platform
from api.audits import cancellation
from api.db import ChargedPeopleRow, ChargeRow
from api.kernel.errors import BeginAgainError, ConflictError
from api.platforms.interfaces import Platform
from api.two_party.platform_half import PlatformHalf
from auditor_client import Auditor
from platform_sim import SimulatedPlatform, World
from privacy.two_party import AuditorParty
from tests.system.adapters import Watched, on
from tests.system.raw import usernames
from tests.two_parties import Conversation, auditor_at, integers, weighted
from tests.world import Deployment, deployed, sqlite_url

ROWS = 20
# rho = (2 · epsilon)² / 2 under change-one, in units of 1e-12.
RHO = 2 * 10**12


class KilledError(Exception):
    """The process died here."""


@pytest.fixture(scope="module")
def tiny() -> Platform:
    return make_simulated_platform(people=120, seed=3)


@pytest.fixture(scope="module")
def world(tiny: Platform) -> World:
    assert isinstance(tiny.people, SimulatedPlatform)
    return tiny.people.world


@pytest.fixture(scope="module")
def watched(tiny: Platform) -> Watched:
    assert tiny.scores is not None
    return Watched(tiny.scores)


@pytest.fixture
def service(tmp_path: Path, tiny: Platform, watched: Watched) -> Iterator[Deployment]:
    """With the real cap."""
    settings = {"embedded_worker": False, "two_party_candidates": 150, "person_lifetime_rho": 10}
    with deployed(sqlite_url(tmp_path), on(tiny, watched), **settings) as running:
        watched.seen.clear()
        yield running


@pytest.fixture
def auditor(service: Deployment) -> Auditor:
    return auditor_at(service)


def named(auditor: Auditor, names: list[str], service: Deployment) -> Conversation:
    hidden = weighted(auditor, names, ["a"] * len(names), hide=True)
    return Conversation.begin(service, auditor, hidden, epsilon=1)


def spent(talk: Conversation, column: str = "spent") -> dict[int, int]:
    with talk.service.store.read() as session:
        balances = Blocks.load(session, np.array([0]))[column]
    return {int(person): int(balances[person]) for person in np.flatnonzero(balances)}


def recorded(talk: Conversation) -> set[int]:
    with talk.service.store.read() as session:
        row = session.get(ChargedPeopleRow, talk.audit.id)
    return set(np.frombuffer(row.people, "<i8").tolist()) if row else set()


def numbers(world: World, count: int) -> list[int]:
    return [int(each) for each in world.directory.holders("username")[:count]]


def seen(watched: Watched) -> set[int]:
    return {int(person) for persons in watched.seen for person in persons}


def die_before_reading(monkeypatch: pytest.MonkeyPatch, talk: Conversation) -> None:
    """The set is recorded and debited, and the process dies before reading begins."""

    def killed(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as dying:
        dying.setattr(PlatformHalf, "_begin", killed)
        with pytest.raises(KilledError):
            talk.talk(talk.party())
    talk.die()


def die_while_reading(monkeypatch: pytest.MonkeyPatch, talk: Conversation) -> None:
    """Reading has begun, and the process dies before there is anything to release."""
    with monkeypatch.context() as broken:
        broken.setattr("api.two_party.platform_half.values_of", lambda *_: lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            talk.talk(talk.party())
    talk.die()


def other_rows(talk: Conversation, auditor: Auditor, names: list[str]) -> None:
    """The auditor goes on with other identifiers than it began with."""
    talk.people = weighted(auditor, names, ["a"] * len(names), hide=True)


def test_whom_a_run_finds_is_debited_before_anything_is_read(
    service: Deployment,
    auditor: Auditor,
    world: World,
    watched: Watched,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    talk = named(auditor, usernames(world, ROWS), service)
    assert spent(talk) == {}
    assert recorded(talk) == set()
    die_before_reading(monkeypatch, talk)
    assert seen(watched) == set()
    assert talk.state == "charged"
    assert spent(talk) == spent(talk, "drawn") == dict.fromkeys(numbers(world, ROWS), RHO)
    assert recorded(talk) == set(numbers(world, ROWS))


def test_a_run_replaces_a_set_on_which_nothing_was_read(
    service: Deployment,
    auditor: Auditor,
    world: World,
    watched: Watched,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = usernames(world, 2 * ROWS)
    talk = named(auditor, names[:ROWS], service)
    die_before_reading(monkeypatch, talk)
    other_rows(talk, auditor, names[ROWS:])
    party = talk.party()
    assert talk.talk(party) is None
    others = numbers(world, 2 * ROWS)[ROWS:]
    assert spent(talk) == spent(talk, "drawn") == dict.fromkeys(others, RHO)
    assert recorded(talk) == seen(watched) == set(others)


def test_a_set_on_which_something_was_read_is_final(
    service: Deployment,
    auditor: Auditor,
    world: World,
    watched: Watched,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next run finds no new people, and people whom it no longer names stay debited."""
    names = usernames(world, 2 * ROWS)
    talk = named(auditor, names[:ROWS], service)
    die_while_reading(monkeypatch, talk)
    assert talk.state == "running"
    first = dict.fromkeys(numbers(world, ROWS), RHO)
    assert spent(talk) == first
    other_rows(talk, auditor, names[5 : ROWS + 5])
    party = talk.party()
    assert talk.talk(party) is None
    assert seen(watched) == set(numbers(world, ROWS)[5:])
    assert spent(talk) == first
    assert recorded(talk) == set(first)
    # 15 of 20 rows find somebody; noise of scale 2 on each of four sums. Beyond 130: below 1e-12.
    assert abs(integers(party).sum() / 1_000 - 15) < 130


def test_a_run_that_began_before_another_read_must_begin_again(
    service: Deployment, auditor: Auditor, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was compared with everybody: its finding would be a second draw."""
    talk = named(auditor, usernames(world, ROWS), service)
    party = talk.party()
    message = talk.talk(party, 3)
    assert message is not None
    with service.service.store.write() as session:
        audit = session.merge(talk.audit)
        audit.state = "running"
        session.add(audit)
    with pytest.raises(BeginAgainError):
        go_on(talk, party, message)
    assert spent(talk) == {}


def test_a_run_that_was_replaced_reads_nobody(
    service: Deployment, auditor: Auditor, world: World, watched: Watched
) -> None:
    people = weighted(auditor, usernames(world, ROWS), ["a"] * ROWS)
    talk = Conversation.begin(service, auditor, people, epsilon=1)
    # HELLO, KEY and WEIGHTS are answered: the next message reads.
    message, replaced = talk.talk(talk.party(), 3), talk.service
    assert message is not None
    talk.die()
    talk.talk(talk.party(), 1)
    talk.service = replaced
    with pytest.raises(BeginAgainError):
        talk.send(message)
    assert talk.state == "charged"
    assert seen(watched) == set()


def test_a_cancellation_gives_back_to_exactly_the_recorded_people(
    service: Deployment, auditor: Auditor, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = named(auditor, usernames(world, ROWS), service)
    cancel(before)
    assert spent(before) == {}  # nobody was recorded, nobody gets anything
    talk = named(auditor, usernames(world, ROWS), service)
    die_before_reading(monkeypatch, talk)
    other = named(auditor, usernames(world, 5), service)
    assert other.talk(other.party()) is None
    cancel(talk)
    assert spent(talk) == spent(talk, "drawn") == dict.fromkeys(numbers(world, 5), RHO)


def test_people_above_the_cap_are_dropped_and_not_read(
    service: Deployment, auditor: Auditor, world: World, watched: Watched
) -> None:
    for _ in range(5):
        talk = named(auditor, usernames(world, 3), service)
        assert talk.talk(talk.party()) is None
    assert spent(talk) == dict.fromkeys(numbers(world, 3), 5 * RHO)
    watched.seen.clear()
    talk = named(auditor, usernames(world, 5), service)
    assert talk.talk(talk.party()) is None
    assert recorded(talk) == seen(watched) == set(numbers(world, 5)[3:])


@pytest.mark.parametrize("digest", [bytes(32), BEFORE_0015], ids=["another", "before 0015"])
@pytest.mark.parametrize("hide", [True, False])
def test_a_run_whose_people_are_not_those_of_the_charge_reads_nobody(
    service: Deployment,
    auditor: Auditor,
    world: World,
    watched: Watched,
    monkeypatch: pytest.MonkeyPatch,
    hide: bool,
    digest: bytes,
) -> None:
    people = weighted(auditor, usernames(world, ROWS), ["a"] * ROWS, hide=hide)
    talk = Conversation.begin(service, auditor, people, epsilon=1)
    begin = PlatformHalf._begin

    def forged(half: PlatformHalf, persons: object) -> object:
        with service.service.store.write() as session:
            query = select(ChargeRow).where(ChargeRow.audit_id == talk.audit.id)
            row = session.exec(query).one()
            row.people_digest = digest
            session.add(row)
        return begin(half, persons)  # type: ignore[arg-type]

    monkeypatch.setattr(PlatformHalf, "_begin", forged)
    with pytest.raises(ConflictError):
        talk.talk(talk.party())
    assert (talk.state, talk.entries("failure"), talk.entries("refund")) == ("failed", 1, 0)
    assert seen(watched) == set()
    assert spent(talk) == dict.fromkeys(numbers(world, ROWS), RHO)


@pytest.mark.parametrize("hide", [True, False])
def test_a_later_run_reads_nobody_either(
    service: Deployment,
    auditor: Auditor,
    world: World,
    watched: Watched,
    monkeypatch: pytest.MonkeyPatch,
    hide: bool,
) -> None:
    """The people of a run that had begun to read are compared with the charge as well."""
    people = weighted(auditor, usernames(world, ROWS), ["a"] * ROWS, hide=hide)
    talk = Conversation.begin(service, auditor, people, epsilon=1)
    die_while_reading(monkeypatch, talk)
    with service.service.store.write() as session:
        row = session.exec(select(ChargeRow).where(ChargeRow.audit_id == talk.audit.id)).one()
        row.people_digest = bytes(32)
        session.add(row)
    with pytest.raises(ConflictError):
        talk.talk(talk.party())
    assert (talk.state, talk.entries("failure"), talk.entries("refund")) == ("failed", 1, 0)
    assert seen(watched) == set()


def go_on(talk: Conversation, party: AuditorParty, message: bytes | None) -> None:
    while message is not None:
        message = party.receive(talk.send(message))


def cancel(talk: Conversation) -> None:
    with talk.service.store.write() as session:
        cancellation.cancel(session, talk.caller, talk.audit.id, talk.service.settings)
