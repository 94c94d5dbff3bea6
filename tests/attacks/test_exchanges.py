"""A cheating auditor at the exchange: messages out of turn, of other runs, and far too many."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from sqlmodel import col, select

from api.app.compose import make_simulated_platform
from api.db import PersonBlockRow
from api.kernel import failpoints
from api.kernel.errors import UnavailableError
from api.kernel.failpoints import Failpoint
from api.platforms.interfaces import Platform
from api.two_party.runs import LiveRuns
from auditor_client import Auditor
from auditor_client.errors import ProblemError
from auditor_client.ledger import verify_file
from auditor_client.transport.http_client import refusal
from openapi.resources import Audience, HiddenDraft, TwoPartyRequest
from platform_sim import SimulatedPlatform, World
from privacy.two_party import AuditorParty, dleq, platform_party
from privacy.two_party.messages import MessageKind
from privacy.two_party.private_set_intersection import POINT
from tests.privacy.two_party.malleable import BendingAuditor, ManyOfOne
from tests.refusals import refuses
from tests.system.raw import usernames
from tests.system.test_ledger import trust_of
from tests.two_parties import Conversation, auditor_at, integers, weighted
from tests.world import Deployment, deployed, sqlite_url

PEOPLE = 10
BYTES = "application/octet-stream"


@pytest.fixture(scope="module")
def platform() -> Platform:
    return make_simulated_platform(people=120, seed=11)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Deployment]:
    url = sqlite_url(tmp_path_factory.mktemp("exchanges"))
    with deployed(url, platform, embedded_worker=False, two_party_candidates=150) as running:
        yield running


@pytest.fixture(scope="module")
def auditor(service: Deployment) -> Auditor:
    return auditor_at(service)


@pytest.fixture(scope="module")
def world(platform: Platform) -> World:
    assert isinstance(platform.people, SimulatedPlatform)
    return platform.people.world


@dataclass
class Wire:
    """The exchange over HTTP."""

    auditor: Auditor
    audit_id: str

    def post(self, message: bytes) -> bytes:
        path, headers = f"/v1/audits/{self.audit_id}/exchange", {"content-type": BYTES}
        # A single attempt: the SDK would wait for minutes where the service asks it to.
        answer = self.auditor._transport.once("POST", path, content=message, headers=headers)
        if not answer.is_success:
            raise refusal(answer)
        return bytes(answer.content)

    def refused(self, message: bytes) -> str:
        with pytest.raises(ProblemError) as caught:
            self.post(message)
        problem = caught.value.problem
        return str(getattr(problem, "reason", None) or caught.value.code)


def begun(service: Deployment, auditor: Auditor, world: World) -> tuple[Conversation, Wire]:
    names = usernames(world, PEOPLE)
    talk = Conversation.begin(service, auditor, weighted(auditor, names, ["a"] * PEOPLE, hide=True))
    talk.service = service.service
    return talk, Wire(auditor, talk.audit.id)


def out_of_turn(party: AuditorParty) -> list[bytes]:
    """Return the messages that this party may send next."""
    left = party._script[(party.number + 1) // 2 :]
    return [party._chain.framed(each.message, bytes(each.message.length)) for each in left]


def test_messages_out_of_order_or_of_another_run_are_refused(
    service: Deployment, auditor: Auditor, world: World
) -> None:
    talk, wire = begun(service, auditor, world)
    other, other_wire = begun(service, auditor, world)
    party, stale, foreign = talk.party(), talk.party(), other.party()
    # A run of another audit, and one of the same audit that another took the place of.
    elsewhere = foreign.receive(other_wire.post(foreign.start()))
    overtaken = stale.receive(wire.post(stale.start()))
    message = party.receive(wire.post(party.start()))
    assert elsewhere
    assert overtaken
    assert wire.refused(elsewhere) == wire.refused(overtaken) == "message-foreign"
    said: list[bytes] = []
    while message is not None:
        assert {wire.refused(later) for later in out_of_turn(party)} <= {"message-out-of-order"}
        assert {wire.refused(earlier) for earlier in said[:-1]} <= {"message-replayed"}
        said.append(message)
        message = party.receive(wire.post(message))
    # Noise of scale 2/10 on each of five sums.
    assert abs(integers(party).sum() / 1_000 - PEOPLE) < 8
    assert talk.charges() == talk.entries("answer") == 1


@pytest.mark.parametrize("kind", [MessageKind.BLINDED, MessageKind.REBLINDED])
def test_points_that_are_none_are_refused_and_the_run_goes_on(
    service: Deployment, auditor: Auditor, world: World, kind: MessageKind
) -> None:
    talk, wire = begun(service, auditor, world)
    party = talk.party()
    message: bytes | None = party.start()
    while message is not None and party._script[party.number // 2].message.kind is not kind:
        message = party.receive(wire.post(message))
    assert message is not None
    # Not canonical, and the identity.
    assert wire.refused(message[:-POINT] + b"\xff" * POINT) == "point"
    assert wire.refused(message[:-POINT] + bytes(POINT)) == "point"
    assert talk.state == "charged"
    while message is not None:
        message = party.receive(wire.post(message))
    assert talk.charges() == talk.entries("answer") == 1


class Swapping(BendingAuditor):
    """Returns the first two candidates in each other's place."""

    bend_candidates = staticmethod(lambda points: [points[1], points[0], *points[2:]])


def person_balances(service: Deployment) -> list[bytes]:
    with service.service.store.read() as session:
        rows = session.exec(select(PersonBlockRow).order_by(col(PersonBlockRow.number)))
        return [row.spent for row in rows]


def test_candidates_under_many_keys_cost_the_charge_and_tell_nothing(
    service: Deployment, auditor: Auditor, world: World, tmp_path: Path
) -> None:
    """With one person in all rows, who would count ten times with probability 1/10."""
    talk, wire = begun(service, auditor, world)
    party = talk.party(ManyOfOne)
    before, people = auditor.budget().mandates[0], person_balances(service)
    message: bytes | None = party.start()
    while message is not None and message[9] != MessageKind.PROOF:
        message = party.receive(wire.post(message))
    assert message is not None
    assert talk.state == "charged"
    assert wire.refused(message) == "wrong-proof"
    assert talk.state == "failed"
    assert (talk.charges(), talk.entries("failure"), talk.entries("answer")) == (1, 1, 0)
    audit = auditor.audits.state(talk.audit.id)
    assert (audit.state, audit.failure) == ("failed", "wrong-proof")
    # Neither this message nor a new run is taken, and nobody gets anything back or was debited.
    assert wire.refused(message) == wire.refused(talk.party().start()) == "conflict"
    assert auditor.budget().mandates[0] == before
    assert person_balances(service) == people
    assert talk.entries("refund") == 0
    service.service.checkpointer().once()
    verify_file(service.regulator.ledger.export(tmp_path / "all.jsonl"), trust_of(service))
    [entry] = [
        e for e in service.regulator.ledger.entries(kind="failure") if talk.audit.id in str(e)
    ]
    assert "wrong-proof" in str(entry)


@pytest.mark.parametrize("again", ["the same message", "a new run"])
def test_a_wrong_proof_costs_the_charge_although_the_database_was_down(
    service: Deployment,
    auditor: Auditor,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    again: str,
) -> None:
    """The run stays until its failure is committed: meanwhile none can take its place."""
    talk, wire = begun(service, auditor, world)
    party = talk.party(ManyOfOne)
    message: bytes | None = party.start()
    while message is not None and message[9] != MessageKind.PROOF:
        message = party.receive(wire.post(message))
    assert message is not None

    def down(*_: object) -> bool:
        raise OperationalError("SELECT", {}, Exception("gone"))

    with monkeypatch.context() as patched:
        patched.setattr("api.two_party.exchange.fail_run", down)
        assert wire.refused(message) == "unavailable"
    assert (talk.state, talk.entries("failure")) == ("charged", 0)
    then = message if again == "the same message" else talk.party().start()
    assert wire.refused(then) == "wrong-proof"
    assert (talk.state, talk.entries("failure"), talk.entries("refund")) == ("failed", 1, 0)


def test_a_run_that_begins_while_a_wrong_proof_is_verified_does_not_save_the_charge(
    service: Deployment, auditor: Auditor, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verifying takes seconds: meanwhile a parallel connection begins a new, honest run."""
    talk, wire = begun(service, auditor, world)
    party, honest = talk.party(ManyOfOne), talk.party()
    message: bytes | None = party.start()
    while message is not None and message[9] != MessageKind.PROOF:
        message = party.receive(wire.post(message))
    assert message is not None

    def meanwhile(*arguments: Any) -> None:
        replies.append(wire.post(honest.start()))
        dleq.verify(*arguments)

    replies = list[bytes]()
    monkeypatch.setattr(platform_party, "verify", meanwhile)
    assert wire.refused(message) == "wrong-proof"
    assert (talk.state, talk.entries("failure"), talk.entries("refund")) == ("failed", 1, 0)
    # The honest run was begun, and ends with the audit.
    [reply] = replies
    following = honest.receive(reply)
    assert following is not None
    assert wire.refused(following) == "conflict"


@pytest.mark.parametrize("at", [Failpoint.NOISED, Failpoint.RELEASE_WRITTEN])
@pytest.mark.parametrize("again", ["the same message", "a new run"])
def test_a_failure_after_the_draw_is_final_although_the_database_was_down(
    service: Deployment,
    auditor: Auditor,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    again: str,
    at: Failpoint,
) -> None:
    """Until the failure is committed the audit is marked, and no run of it goes on."""
    talk, wire = begun(service, auditor, world)
    draws, failures = list[Failpoint](), [ValueError("no such number")]

    def reached(boundary: Failpoint) -> None:
        draws.extend([boundary] * (boundary is Failpoint.NOISED))
        if boundary is at and failures:
            raise failures.pop()

    def down(*_: object) -> bool:
        raise OperationalError("SELECT", {}, Exception("gone"))

    monkeypatch.setattr(failpoints, "hit", reached)
    party = talk.party()
    message: bytes | None = party.start()
    with monkeypatch.context() as patched:
        patched.setattr("api.two_party.failures.fail_run", down)
        while message is not None and failures:
            with suppress(ProblemError):
                message = party.receive(wire.post(message))
        assert message is not None
        then = message if again == "the same message" else talk.party().start()
        assert wire.refused(then) == "unavailable"
    assert (talk.state, talk.entries("failure"), len(draws)) == ("running", 0, 1)
    assert wire.refused(then) == "conflict"
    assert (talk.state, talk.entries("failure"), talk.entries("refund")) == ("failed", 1, 0)
    assert wire.refused(talk.party().start()) == "conflict"
    assert len(draws) == 1


def test_a_wrong_proof_looks_the_same_for_members_and_strangers(
    service: Deployment, auditor: Auditor, world: World
) -> None:
    """The auditor's view follows from its own messages, for a member and for a stranger."""
    seen = []
    for stranger in (False, True):
        names = usernames(world, 1, strangers=stranger) + usernames(world, 10, strangers=True)[1:]
        people = weighted(auditor, names, ["a"] * len(names), hide=True)
        talk = Conversation.begin(service, auditor, people)
        talk.service = service.service
        wire, party, lengths = Wire(auditor, talk.audit.id), talk.party(Swapping), list[int]()
        message: bytes | None = party.start()
        while message is not None and message[9] != MessageKind.PROOF:
            reply = wire.post(message)
            lengths += [len(message), len(reply)]
            message = party.receive(reply)
        assert message is not None
        with pytest.raises(ProblemError) as caught:
            wire.post(message)
        seen.append((lengths, caught.value.code, str(caught.value), talk.state))
    assert seen[0] == seen[1]


def test_who_declares_too_much_is_refused_before_the_charge(
    service: Deployment, auditor: Auditor, world: World
) -> None:
    talk, _ = begun(service, auditor, world)
    commitment = "sha256:" + 64 * "0"
    draft = HiddenDraft(identifiers="username", rows=3_000_000, commitment=commitment)
    huge = auditor._transport.post("/v1/audiences/hidden", draft, Audience)
    asked = talk.request.model_copy(update={"audience_id": huge.id, "hidden_groups": 100})
    before = auditor.budget().mandates[0]
    with pytest.raises(ProblemError) as caught:
        auditor.audits.submit(TwoPartyRequest.model_validate(asked.model_dump()))
    assert caught.value.code == "audit-too-large"
    assert auditor.budget().mandates[0] == before


def test_runs_under_way_take_no_more_memory_than_one_audit_may(
    service: Deployment, auditor: Auditor, world: World
) -> None:
    talk, _ = begun(service, auditor, world)
    other, _ = begun(service, auditor, world)
    one = replace(service.service, runs=LiveRuns())
    talk.service = other.service = one
    talk.talk(talk.party(), 1)
    live = one.runs.find(talk.audit.id)
    assert live is not None
    assert 0 < live.size < 2**26
    live.size = service.service.settings.audit_memory_bytes
    with refuses(UnavailableError, "too-many-runs"):
        other.talk(other.party(), 1)
    # The run that has the room can always begin anew.
    assert talk.talk(talk.party()) is None
    assert other.talk(other.party()) is None
