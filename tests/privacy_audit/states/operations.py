"""Operations of the search: what auditors, workers, operators and time do to the accounting.

Each is real service code, called as the routes and the worker call it. What is refused changes
nothing, which the search finds out by itself. A crash is an exception at the beginning of a later
transaction of the same operation: between two transactions nothing else can be stored.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from sqlmodel import Session, select

from api import boundaries, cancelling, housekeeping, quotes
from api.audiences import hidden, sealing, uploads
from api.audiences.erasure import erase
from api.audiences.matching import bind, match_or_cut
from api.audiences.members import Members, tokens
from api.audits.two_party import terms_of
from api.boundaries import Boundary
from api.errors import ApiError
from api.ledger import lock
from api.pricing import facts_of
from api.store import AudienceRow, AuditRow
from api.submissions import Submissions
from api.two_party import exchange
from api.two_party.runs import Runs
from api.two_party.timeouts import end_stale
from openapi.models import REQUEST, AudienceDraft, HiddenDraft, TwoPartyRequest
from privacy.two_party import AuditorParty, sealing_key_of
from tests.privacy_audit.states.world import World

EDGES = [0.0, 0.5, 1.0]
MAX_AUDITS = 3
MAX_DAYS = 2
ROWS = 2
UPLOADED = ("ann", "bob")
# Whom a run of a two-party audit names: the auditor may send other rows in the next run.
HIDDEN = {"bob, cat": ("bob", "cat"), "ann, cat": ("ann", "cat")}


class Killed(BaseException):
    """The process is gone: no handler of the service may see it."""


class FaultError(Exception):
    """An injected failure."""


@dataclass
class Observed:
    """Facts about one operation that the database does not hold."""

    # The audits whose people it may debit, read or refund.
    audits: set[str] = field(default_factory=set)
    read: set[int] = field(default_factory=set)
    draws: int = 0
    crashed: bool = False


@dataclass(frozen=True)
class Operation:
    name: str
    do: Callable[[World, Observed], None]

    def apply(self, world: World) -> Observed:
        """Do it; a refusal, a conflict or a crash is one of its outcomes."""
        observed = Observed()
        world.minutes += 1
        world.scores.asked.clear()

        def reached(boundary: Boundary) -> None:
            observed.draws += boundary is Boundary.NOISED

        with patch.object(boundaries, "reached", reached), suppress(ApiError):
            try:
                self.do(world, observed)
            except Killed:
                observed.crashed = True
        observed.read = set(world.scores.asked)
        return observed


def operations(world: World) -> Iterator[Operation]:
    """Yield all operations that may do something in the current state of the world."""
    with world.store.read() as session:
        audiences = session.exec(select(AudienceRow)).all()
        audits = session.exec(select(AuditRow)).all()
    sources = {audience.source: audience for audience in audiences}
    if "upload" not in sources:
        yield Operation("upload", _upload)
    if "hidden" not in sources:
        yield Operation("hide", _hide)
    for source, audience in sorted(sources.items()):
        if audience.state == "open":
            yield Operation(f"seal {source}", _on(_seal, audience.id))
        if audience.state != "erased":
            yield Operation(f"erase {source}", _on(_erase, audience.id))
        if audience.state == "sealed":
            yield from _submissions(source, audience.id, len(audits))
    yield from _audit_operations(audits)
    if world.days < MAX_DAYS:
        yield Operation("renew", _renew)
    if world.days <= MAX_DAYS:
        yield Operation("expire", _expire)


def _submissions(source: str, audience_id: str, audits: int) -> Iterator[Operation]:
    yield Operation(f"price {source}", _on(_price, audience_id))
    if audits == MAX_AUDITS:
        return
    yield Operation(f"charge histogram, {source}", _on(_charge, audience_id, "score-histogram"))
    if source == "hidden":
        yield Operation(f"charge two-party, {source}", _on(_charge, audience_id, "two-party"))


def _audit_operations(audits: Any) -> Iterator[Operation]:
    waiting = [audit for audit in audits if audit.state in ("charged", "running")]
    for number, audit in enumerate(audits):
        if audit.state == "charged":
            yield Operation(f"cancel {number}", _on(_cancel, audit.id))
    if any(audit.kind != "two-party" for audit in waiting):
        yield Operation("run", _run)
        yield Operation("run, crash before the release", _crashing(_run, 2))
        yield Operation("run, fault after the draw", _run_faulty)
    for audit in waiting:
        if audit.kind == "two-party":
            for label in HIDDEN:
                yield Operation(f"answer {label}", _on(_answer, audit.id, label))
            for write in (2, 3, 4, 5):
                crash = _crashing(_on(_answer, audit.id, "bob, cat"), write)
                yield Operation(f"answer bob, cat, crash before write {write}", crash)
            yield Operation("give up", _give_up)


def _on(do: Callable[..., None], *given: Any) -> Callable[[World, Observed], None]:
    return lambda world, observed: do(world, observed, *given)


def _crashing(do: Callable[[World, Observed], None], at: int) -> Callable[[World, Observed], None]:
    """Return the same operation in a process that dies before its transaction of this number."""

    def crashing(world: World, observed: Observed) -> None:
        write, begun = world.store.write, 0

        @contextmanager
        def counted() -> Iterator[Session]:
            nonlocal begun
            begun += 1
            if begun == at:
                raise Killed
            with write() as session:
                yield session

        with patch.object(world.store, "write", counted):
            do(world, observed)

    return crashing


def _upload(world: World, _: Observed) -> None:
    members = Members("username", pa.array(UPLOADED))
    found = match_or_cut(world.service.platform.people, members)
    binding = bind(members, world.settings)
    digest = f"sha256:{hashlib.sha256(repr(UPLOADED).encode()).hexdigest()}"
    with world.store.write() as session:
        draft = AudienceDraft.model_validate({"groups": ["g0"]})
        made = uploads.create(session, world.caller, draft, world.settings)
        audience = uploads.owned_open(session, world.caller, made.id)
        part = members, binding, digest, world.settings, 0.0
        accepted = uploads.accept_part(session, audience, "g0", 0, *part, instead_of=None)
    uploads.deliver(world.store, accepted[1], found)


def _seal(world: World, _: Observed, audience_id: str) -> None:
    people = world.service.platform.people
    sealing.seal(world.store, world.caller, audience_id, bytes(16), people, world.settings)


def _hide(world: World, _: Observed) -> None:
    commitment = "sha256:" + "0" * 64
    draft = HiddenDraft(identifiers="username", rows=ROWS, commitment=commitment)
    with world.store.write() as session:
        hidden.hide(session, world.caller, draft, world.service.platform, world.settings)


def _request(world: World, audience_id: str, kind: str) -> Any:
    if kind == "two-party":
        metric = {
            "name": "score-histogram",
            "content_id": world.content_id,
            "bins": {"edges": EDGES},
        }
        own = {"metric": metric, "hidden_groups": 1}
    else:
        own = {"content_id": world.content_id, "bins": {"edges": EDGES}, "size_epsilon": "0"}
    return REQUEST.validate_python(
        {"kind": kind, "audience_id": audience_id, "epsilon": "1", **own}
    )


def _price(world: World, _: Observed, audience_id: str) -> None:
    for kind in ("score-histogram", "two-party"):
        request = _request(world, audience_id, kind)
        platform, settings = world.service.platform, world.settings
        with world.store.read() as session, suppress(ApiError):
            quotes.quote(session, world.caller, request, platform, settings)


def _charge(world: World, observed: Observed, audience_id: str, kind: str) -> None:
    request = _request(world, audience_id, kind)
    statement = world.maker.states("charge", request)
    # A process of its own, which remembers nothing of what other branches of the search did.
    submissions = Submissions(world.store, world.service.platform, world.settings)
    observed.audits.add(submissions.submit(world.caller, request, statement).id)


def _cancel(world: World, observed: Observed, audit_id: str) -> None:
    observed.audits.add(audit_id)
    with world.store.write() as session:
        _call(cancelling.cancel, session, world, audit_id)


def _call(cancel: Callable[..., Any], session: Session, world: World, audit_id: str) -> None:
    given = [session, world.caller, audit_id, world.settings]
    cancel(*given[: cancel.__code__.co_argcount])


def _run(world: World, observed: Observed) -> None:
    def moved(audit_id: str, _state: str) -> None:
        observed.audits.add(audit_id)

    replace(world.service.worker(), moved=moved).run_one()


def _run_faulty(world: World, observed: Observed) -> None:
    counted = boundaries.reached

    def reached(boundary: Boundary) -> None:
        counted(boundary)
        if boundary is Boundary.NOISED:
            raise FaultError

    with patch.object(boundaries, "reached", reached):
        _run(world, observed)


def _answer(world: World, observed: Observed, audit_id: str, label: str) -> None:
    """Exchange one run of a two-party audit, from its first message to its release."""
    observed.audits.add(audit_id)
    service = replace(world.service, runs=Runs())
    with world.store.read() as session:
        audit = session.get_one(AuditRow, audit_id)
        request = REQUEST.validate_json(audit.request)
        facts = facts_of(session, session.get_one(AudienceRow, audit.audience_id))
    assert isinstance(request, TwoPartyRequest)
    terms = terms_of(request, facts, audit_id)
    named = tokens("username", pa.array(HIDDEN[label]))
    weights = np.full((terms.rows, 1), terms.weights.high)
    key = sealing_key_of(world.regulator_key)
    party = AuditorParty(terms, weights, regulator_key=key, tokens=named)
    message: bytes | None = party.start()
    while message is not None:
        message = party.receive(
            exchange.exchange(service.two_party, world.caller, audit_id, message)
        )


def _give_up(world: World, observed: Observed) -> None:
    with world.store.read() as session:
        query = select(AuditRow.id).where(AuditRow.kind == "two-party")
        observed.audits |= set(session.exec(query).all())
    end_stale(world.store, world.settings)


def _erase(world: World, _: Observed, audience_id: str) -> None:
    with world.store.write() as session:
        lock(session)
        erase(session, uploads.owned(session, world.caller, audience_id, lock="skip"))


def _renew(world: World, _: Observed) -> None:
    world.days += 1


def _expire(world: World, _: Observed) -> None:
    """Let the mandate end, and the time for which people are kept."""
    world.days += 60
    housekeeping.tidy(world.store)
