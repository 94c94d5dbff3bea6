"""Either side dies at any message: nothing is paid or answered twice, and no secret stays.

A service that was killed comes back on the same database with no party in memory: `die`.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sqlalchemy.exc import OperationalError
from sqlmodel import select

from api.app.compose import make_simulated_platform
from api.audits import final_failures
from api.audits.submission import AuditSubmission
from api.db import AuditRow, EntryRow
from api.kernel import failpoints
from api.kernel.errors import (
    BeginAgainError,
    ConflictError,
    MessageRefusedError,
    NotReleasedError,
    UnavailableError,
)
from api.kernel.failpoints import Failpoint
from api.kinds.two_party import terms_of
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Platform
from api.two_party.delivery import deliver_all_releases
from api.two_party.failures import fail_run
from api.two_party.platform_half import PlatformHalf
from api.two_party.timeouts import end_stale_runs
from auditor_client import Auditor
from auditor_client.audiences.weighted import WeightedAudience
from auditor_client.errors import UnsupportedAuditError
from openapi.resources import Audit
from platform_sim import SimulatedPlatform, World
from privacy.two_party import EncryptedTable
from tests.refusals import refuses
from tests.system.raw import usernames
from tests.two_parties import Conversation, auditor_at, integers, one, weighted
from tests.world import Deployment, deployed, sqlite_url

PEOPLE = 60
# HELLO, KEY, WEIGHTS and ASK: one exchange each, of so few rows.
EXCHANGES = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("boundaries")


@pytest.fixture(scope="module")
def tiny() -> Platform:
    return make_simulated_platform(people=120, seed=3)


@pytest.fixture(scope="module")
def service(folder: Path, tiny: Platform) -> Iterator[Deployment]:
    with deployed(
        sqlite_url(folder), tiny, embedded_worker=False, two_party_candidates=150
    ) as running:
        yield running


@pytest.fixture(scope="module")
def world(tiny: Platform) -> World:
    assert isinstance(tiny.people, SimulatedPlatform)
    return tiny.people.world


@pytest.fixture(scope="module")
def auditor(service: Deployment) -> Auditor:
    return auditor_at(service)


@pytest.fixture(scope="module")
def people(auditor: Auditor, world: World) -> WeightedAudience:
    return weighted(auditor, usernames(world, PEOPLE), ["a", "b"] * (PEOPLE // 2))


@pytest.fixture
def talk(service: Deployment, auditor: Auditor, people: WeightedAudience) -> Conversation:
    return Conversation.begin(service, auditor, people, epsilon=10)


def settled(talk: Conversation) -> None:
    assert talk.state == "released"
    assert talk.charges() == talk.entries("answer") == talk.entries("release") == 1


@pytest.mark.parametrize("after", range(EXCHANGES))
def test_the_platform_dies_before_it_answered(talk: Conversation, after: int) -> None:
    party = talk.party()
    message = talk.talk(party, after)
    talk.die()
    if after:
        assert message is not None
        with refuses(BeginAgainError, "run-not-under-way"):
            talk.send(message)
        assert talk.state == "charged"
    fresh = talk.party()
    assert talk.talk(fresh) is None
    # 60 people, each in one of two groups, with noise of scale 1/10 on each of ten sums.
    assert abs(integers(fresh).sum() / 1_000 - PEOPLE) < 10
    settled(talk)


@pytest.mark.parametrize("after", range(1, EXCHANGES))
def test_the_auditor_dies_before_it_asked(talk: Conversation, after: int) -> None:
    stale = talk.party()
    message = talk.talk(stale, after)
    assert message is not None
    assert talk.talk(talk.party()) is None
    settled(talk)
    with refuses(MessageRefusedError, "answered-before"):
        talk.send(message)


def test_the_platform_dies_after_it_answered_and_serves_the_same_bytes(
    talk: Conversation,
) -> None:
    party = talk.party()
    ask = talk.talk(party, EXCHANGES - 1)
    assert ask is not None
    reply = talk.send(ask)
    talk.die()
    assert talk.send(ask) == reply
    assert party.receive(reply) is None
    with refuses(MessageRefusedError, "answered-before"):
        talk.talk(talk.party())
    settled(talk)


def test_a_platform_that_fails_while_it_is_read_costs_a_run_and_no_charge(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object) -> None:
        raise PlatformDownError("the platform does not answer")

    with monkeypatch.context() as broken:
        broken.setattr("api.two_party.platform_half.values_of", lambda *_: down)
        with refuses(UnavailableError, "platform-silent"):
            talk.talk(talk.party())
    assert talk.state == "running"
    assert talk.talk(talk.party()) is None
    settled(talk)


def test_values_of_two_models_are_not_released(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = iter([f"sha256:{64 * each}" for each in "ab"])
    with monkeypatch.context() as changing:
        changing.setattr(PlatformHalf, "_model", lambda _: next(models))
        with refuses(UnavailableError, "platform-silent"):
            talk.talk(talk.party())
    assert talk.state == "running"
    assert talk.talk(talk.party()) is None
    settled(talk)


@pytest.mark.parametrize("at", [Failpoint.NOISED, Failpoint.RELEASE_WRITTEN])
def test_a_failure_after_the_draw_is_final(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch, at: Failpoint
) -> None:
    draws = 0

    def fails(boundary: Failpoint) -> None:
        nonlocal draws
        draws += boundary is Failpoint.NOISED
        if boundary is at:
            raise ValueError("no such number")

    monkeypatch.setattr(failpoints, "hit", fails)
    with pytest.raises(ConflictError):
        talk.talk(talk.party())
    with pytest.raises(ConflictError):
        talk.talk(talk.party())
    assert (talk.state, draws) == ("failed", 1)
    assert (talk.charges(), talk.entries("failure"), talk.entries("answer")) == (1, 1, 0)


def test_an_unavailable_database_is_given_the_same_answer_again(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = [OperationalError("insert", {}, Exception("gone"))]
    draws = 0

    def fails(boundary: Failpoint) -> None:
        nonlocal draws
        draws += boundary is Failpoint.NOISED
        if boundary is Failpoint.RELEASE_WRITTEN and gone:
            raise gone.pop()

    monkeypatch.setattr(failpoints, "hit", fails)
    party = talk.party()
    with pytest.raises(OperationalError):
        talk.talk(party)
    assert talk.state == "running"
    assert talk.talk(party) is None
    settled(talk)
    assert draws == 1


def test_a_run_that_was_overtaken_cannot_answer(talk: Conversation) -> None:
    slow, overtaken = talk.party(), talk.service
    ask = talk.talk(slow, EXCHANGES - 1)
    assert ask is not None
    talk.die()
    talk.talk(talk.party(), 1)
    other, talk.service = talk.service, overtaken
    with pytest.raises(BeginAgainError):
        talk.send(ask)
    assert talk.entries("answer") == 0
    talk.service = other
    assert talk.talk(talk.party()) is None
    settled(talk)


def once(monkeypatch: pytest.MonkeyPatch, at: Failpoint, act: Callable[[], object]) -> list[int]:
    """Act when a run first comes to this boundary; return a list with an item for each draw."""
    left, draws = [act], list[int]()

    def hit(boundary: Failpoint) -> None:
        draws.extend([1] * (boundary is Failpoint.NOISED))
        if boundary is at and left:
            left.pop()()

    monkeypatch.setattr(failpoints, "hit", hit)
    return draws


def test_a_run_that_is_replaced_after_its_draw_cannot_answer(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies, fresh = list[bytes](), talk.party()
    once(monkeypatch, Failpoint.NOISED, lambda: replies.append(talk.send(fresh.start())))
    with pytest.raises(BeginAgainError):
        talk.talk(talk.party())
    assert (talk.state, talk.entries("answer")) == ("running", 0)
    message = fresh.receive(replies[0])
    while message is not None:
        message = fresh.receive(talk.send(message))
    settled(talk)


def test_an_audit_that_ends_after_the_draw_is_not_answered(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, audit = talk.service.store, talk.audit.id
    once(monkeypatch, Failpoint.NOISED, lambda: fail_run(store, audit, None, "timed-out"))
    with pytest.raises(BeginAgainError):
        talk.talk(talk.party())
    assert (talk.state, talk.entries("failure"), talk.entries("answer")) == ("failed", 1, 0)


def test_a_run_of_an_audit_that_must_fail_draws_no_noise(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run has failed after its draw, and its failure is not committed yet."""
    store, audit = talk.service.store, talk.audit.id

    def must_fail() -> None:
        final_failures.mark(store, audit, lambda: fail_run(store, audit, None, "internal"))

    draws = once(monkeypatch, Failpoint.REDUCED, must_fail)
    with pytest.raises(ConflictError):
        talk.talk(talk.party())
    assert (talk.state, talk.entries("failure"), talk.entries("answer")) == ("failed", 1, 0)
    assert draws == []


def test_noise_that_cannot_be_added_is_not_drawn_again(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = 0

    def drawn(*_: object) -> None:
        nonlocal draws
        draws += 1
        raise ValueError("no such number")

    monkeypatch.setattr(EncryptedTable, "plus", drawn)
    for _ in range(2):
        with pytest.raises(ConflictError):
            talk.talk(talk.party())
    assert (talk.state, draws) == ("failed", 1)
    assert (talk.charges(), talk.entries("failure"), talk.entries("answer")) == (1, 1, 0)


def test_a_run_that_begins_while_another_is_answered_begins_nothing(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first message was read before the answer, and is written after it."""
    answered, late = talk.party(), talk.party()

    def meanwhile(*asked: Any) -> Any:
        monkeypatch.undo()
        assert talk.talk(answered) is None
        return terms_of(*asked)

    monkeypatch.setattr("api.two_party.exchange.terms_of", meanwhile)
    with pytest.raises(BeginAgainError):
        talk.send(late.start())
    settled(talk)


def test_no_secret_is_on_disk(talk: Conversation, folder: Path) -> None:
    party = talk.party()
    secrets = [key.export() for key in party._keys]
    talk.talk(party)
    settled(talk)
    written = b"".join(path.read_bytes() for path in folder.iterdir())

    def found(data: bytes) -> bool:
        """In pieces: a database lays long values out over pages."""
        return any(data[at : at + 64] in written for at in range(0, len(data) - 64, 1_024))

    assert found(talk.said[-1])
    assert not any(map(found, secrets))
    # Weights in the clear would be runs of 1,000 and 0 as 64-bit numbers.
    assert np.array([1_000, 0, 1_000, 0], "<i8").tobytes() not in written


@pytest.mark.parametrize("hide", [False, True])
def test_a_member_and_a_stranger_look_alike(
    service: Deployment, auditor: Auditor, world: World, hide: bool
) -> None:
    shapes, states = [], []
    for stranger in (False, True):
        alone = one(auditor, world, stranger=stranger, hide=hide)
        talk = Conversation.begin(service, auditor, alone)
        party = talk.party()
        talk.talk(party)
        shapes.append([len(message) for message in talk.said])
        states.append((talk.state, party.number, party.messages_expected))
        found = integers(party).sum() / 1_000
        assert abs(found - (not stranger)) < 5
    assert shapes[0] == shapes[1]
    assert states[0] == states[1]


def test_of_a_stranger_there_is_noise_of_the_stated_scale_and_nothing_else(
    service: Deployment, auditor: Auditor, world: World
) -> None:
    groups = ["a", "b", "c", "d"]
    table = pa.table(
        {"username": usernames(world, 1, strangers=True)} | {name: [0.25] for name in groups}
    )
    alone = auditor.audiences.upload_weighted(table, "username", groups)
    edges = np.linspace(0, 1, 30).tolist()
    talk = Conversation.begin(service, auditor, alone, epsilon=1, edges=edges)
    party = talk.party()
    talk.talk(party)
    noise = np.abs(integers(party)) / 1_000
    # 120 draws of scale 1: their mean magnitude is 1, with a standard deviation of 1/√120.
    assert noise.size == 120
    assert abs(noise.mean() - 1) < 5.5 / np.sqrt(120)


def test_people_found_by_a_hidden_audience_are_debited_once(
    service: Deployment, auditor: Auditor, world: World
) -> None:
    names = usernames(world, 20) + usernames(world, 5, strangers=True)
    hidden = weighted(auditor, names, ["a"] * 25, hide=True)
    talk = Conversation.begin(service, auditor, hidden)
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr("api.two_party.platform_half.values_of", lambda *_: lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            talk.talk(talk.party())
    before = borne(talk, world)
    with refuses(UnsupportedAuditError, "audience-taken"):
        Conversation.begin(service, auditor, hidden)
    talk.die()
    party = talk.party()
    assert talk.talk(party) is None
    # A second run in place of the first: nobody bears it twice.
    assert np.array_equal(borne(talk, world), before)
    assert np.count_nonzero(before) >= 20
    assert abs(integers(party).sum() / 1_000 - 20) < 5
    settled(talk)
    with refuses(UnsupportedAuditError, "audience-taken"):
        Conversation.begin(service, auditor, hidden)


def test_a_hidden_audience_is_for_one_audit_though_two_ask_at_once(
    service: Deployment, auditor: Auditor, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have read that nobody has it before either is charged."""
    hidden = weighted(auditor, usernames(world, 20), ["a"] * 20, hide=True)
    read, both = AuditSubmission._price_optimistically, threading.Barrier(2)

    def at_once(*given: Any) -> Any:
        found = read(*given)
        both.wait(30)
        return found

    monkeypatch.setattr(AuditSubmission, "_price_optimistically", at_once)
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(Conversation.begin, service, auditor, hidden) for _ in range(2)]
        errors = [each.exception() for each in asked]
    [refused] = [error for error in errors if error is not None]
    assert isinstance(refused, UnsupportedAuditError)
    assert "hidden audience is for one audit" in str(refused)
    [talk] = [each.result() for each, error in zip(asked, errors, strict=True) if error is None]
    assert talk.charges() == 1


def test_a_retry_concurrent_with_the_first_attempt_gets_the_same_audit(
    service: Deployment, auditor: Auditor, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is charged after the second has found no earlier one, and before it reads on."""
    hidden = weighted(auditor, usernames(world, 20), ["a"] * 20, hide=True)
    read, submit, tries = AuditSubmission._price_optimistically, AuditSubmission.submit, list[Any]()
    first: list[Audit] = []

    def tried(*given: Any) -> Audit:
        tries.append(given)
        return submit(*given)

    def late(*given: Any) -> Any:
        if not first:
            monkeypatch.setattr(AuditSubmission, "_price_optimistically", read)
            first.append(submit(*tries[0]))
        return read(*given)

    monkeypatch.setattr(AuditSubmission, "submit", tried)
    monkeypatch.setattr(AuditSubmission, "_price_optimistically", late)
    refusals = entries_of(service, "refusal")
    talk = Conversation.begin(service, auditor, hidden)
    assert [talk.audit.id] == [audit.id for audit in first]
    assert talk.charges() == 1
    assert entries_of(service, "refusal") == refusals


def entries_of(service: Deployment, kind: str) -> int:
    with service.service.store.read() as session:
        return len(session.exec(select(EntryRow.number).where(EntryRow.kind == kind)).all())


def borne(talk: Conversation, world: World) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return everybody's balance so far."""
    from api.accounting.balance_blocks import Blocks

    with talk.service.store.read() as session:
        return Blocks.load(session, np.array([0]))["spent"][: world.people].copy()


def aged(talk: Conversation, state: str) -> str:
    """Return the later state of an audit that was submitted in this state long ago."""
    store, settings = talk.service.store, talk.service.settings
    with store.write() as session:
        audit = session.get_one(AuditRow, talk.audit.id)
        audit.submitted_at -= timedelta(hours=settings.two_party_hours + 1)
        audit.state = state
        session.add(audit)
    end_stale_runs(store, settings)
    return talk.state


def test_what_nobody_goes_on_with_ends(talk: Conversation) -> None:
    end_stale_runs(talk.service.store, talk.service.settings)
    assert talk.state == "charged"
    assert aged(talk, "running") == "failed"
    assert (talk.entries("failure"), talk.entries("refund")) == (1, 0)


def test_what_was_not_begun_is_given_back(talk: Conversation) -> None:
    talk.talk(talk.party(), 2)
    assert aged(talk, "charged") == "cancelled"
    assert talk.entries("refund") == 1


def test_the_same_question_asked_twice_at_once_gets_one_answer(talk: Conversation) -> None:
    party = talk.party()
    ask = talk.talk(party, EXCHANGES - 1)
    assert ask is not None
    with ThreadPoolExecutor(4) as pool:
        replies = set(pool.map(talk.send, [ask] * 4))
    [reply] = replies
    assert party.receive(reply) is None
    settled(talk)


def test_what_is_answered_and_opened_is_released_though_the_auditor_is_dead(
    service: Deployment, world: World
) -> None:
    auditor = auditor_at(service, opened_share="1")
    people = weighted(auditor, usernames(world, 3), ["a", "b", "a"])
    talk = Conversation.begin(service, auditor, people)
    with pytest.raises(NotReleasedError):
        talk.talk(talk.party())
    worker = talk.service.worker()
    settling = worker.store, worker.platform, worker.keys, worker.settings
    deliver_all_releases(*settling)
    assert aged(talk, "running") == "running"
    assert service.regulator.open_run(talk.audit.id).honest
    deliver_all_releases(*settling)
    settled(talk)
