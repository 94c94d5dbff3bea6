"""Operations of the search: what auditors, workers, operators and time do to the accounting.

Each is real service code, called as the routes and the worker call it. What is refused changes
nothing, which the search finds out by itself. A crash is an exception at the beginning of a later
transaction of the same operation: between two transactions nothing else can be stored.

In a coarse world a run of a two-party audit is one operation. In a fine one it goes step by step,
in two processes, and other operations come between its steps and between its transactions.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from sqlmodel import Session, select

from api.audiences import expiry, hidden, sampling, sealing, uploads
from api.audiences.erasure import erase
from api.audiences.matching import bind, match_isolating_failures
from api.audiences.parsing import Members
from api.audits import cancellation, quotes
from api.audits.submission import AuditSubmission
from api.db import AudienceRow, AuditRow
from api.kernel import failpoints
from api.kernel.errors import ApiError, BeginAgainError
from api.kernel.failpoints import Failpoint
from api.ledger import lock
from openapi.resources import REQUEST, AudienceDraft, HiddenDraft, SampleDraft
from privacy.two_party.messages import MessageKind
from tests.privacy_audit.states import exchanges
from tests.privacy_audit.states.observed import FaultError, Killed, Observed
from tests.privacy_audit.states.world import CALLED, World

EDGES = [0.0, 0.5, 1.0]
MAX_AUDITS = 3
MAX_DAYS = 2
ROWS = 2
UPLOADED = ("ann", "bob")
OPEN = ("charged", "running")


@dataclass(frozen=True)
class Operation:
    name: str
    do: Callable[[World, Observed], None]

    def apply(self, world: World) -> Observed:
        """Do it; a refusal, a conflict or a crash is one of its outcomes."""
        observed = Observed()
        world.minutes += 1
        world.scores.asked.clear()

        def reached(boundary: Failpoint) -> None:
            observed.draws += boundary is Failpoint.NOISED

        with patch.object(failpoints, "hit", reached), suppress(ApiError, FaultError):
            try:
                self.do(world, observed)
            except Killed:
                observed.crashed = True
            except BeginAgainError:
                observed.replaced = True
        observed.read = set(world.scores.asked)
        return observed


def operations(world: World) -> Iterator[Operation]:
    """Yield all operations that may do something in the current state of the world."""
    with world.store.read() as session:
        audiences = session.exec(select(AudienceRow)).all()
        audits = session.exec(select(AuditRow)).all()
    sources = {audience.source: audience for audience in audiences}
    if world.fine:
        yield from _fine_operations(world, sources, audits)
    else:
        yield from _coarse_operations(world, sources, audits)


def _coarse_operations(world: World, sources: Any, audits: Any) -> Iterator[Operation]:
    """Yield operations on audiences, audits and time; a two-party run is one of them."""
    yield from _new_audiences(sources)
    for source, audience in sorted(sources.items()):
        if audience.state == "open":
            yield Operation(f"seal {source}", _on(_seal, audience.id))
        if audience.state != "erased":
            yield Operation(f"erase {source}", _on(_erase, audience.id))
        if audience.state == "sealed":
            yield from _submissions(source, audience.id, len(audits))
    yield from _audit_operations(audits, {each.id: source for source, each in sources.items()})
    if world.days < MAX_DAYS:
        yield Operation("renew", _renew)
    if world.days <= MAX_DAYS:
        yield Operation("expire", _expire)


def _new_audiences(sources: Any) -> Iterator[Operation]:
    """Yield an audience of each source once; samples in worlds of their own."""
    if "sample" in sources:
        return
    if "upload" not in sources:
        yield Operation("upload", _upload)
    if "hidden" not in sources:
        yield Operation("hide", _hide)
    if not sources:
        yield Operation("sample", _sample)


def _submissions(source: str, audience_id: str, audits: int) -> Iterator[Operation]:
    yield Operation(f"price {source}", _on(_price, audience_id))
    if audits == MAX_AUDITS:
        return
    yield Operation(f"charge histogram, {source}", _on(_charge, audience_id, "score-histogram"))
    yield Operation(f"charge two-party, {source}", _on(_charge, audience_id, "two-party"))


def _fine_operations(world: World, sources: Any, audits: Any) -> Iterator[Operation]:
    """Yield the steps of two-party runs on one audience, and all that may come between them."""
    if not sources:
        yield from _new_audiences(sources)
    for source, audience in sorted(sources.items()):
        yield from _on_audience(source, audience, len(audits))
    by_id = {audience.id: source for source, audience in sources.items()}
    for number, audit in enumerate(audits):
        if audit.state == "charged":
            yield Operation(f"cancel {number}", _on(_cancel, audit.id))
        yield from _steps(world, number, audit, by_id[audit.audience_id])
    if any(audit.state in OPEN for audit in audits):
        yield Operation("give up", exchanges.give_up)
    for place, process in enumerate(world.processes):
        if process.runs._live:
            yield Operation(f"end process {place}", _on(exchanges.end_process, place))


def _on_audience(source: str, audience: AudienceRow, audits: int) -> Iterator[Operation]:
    if audience.state == "open":
        yield Operation(f"seal {source}", _on(_seal, audience.id))
    if audience.state == "sealed":
        yield Operation(f"erase {source}", _on(_erase, audience.id))
        if audits < MAX_AUDITS:
            charge = _on(_charge, audience.id, "two-party")
            yield Operation(f"charge two-party, {source}", charge)


def _steps(world: World, number: int, audit: AuditRow, source: str) -> Iterator[Operation]:
    """Yield the next steps of one audit: its runs, in either process."""
    both = world.processes
    used = [place for place in (0, 1) if both[place].speaking or both[place].runs._live]
    for place in (0, 1):
        # The processes are alike: the second is of use once the first is in use.
        if audit.state in OPEN and (place == 0 or 0 in used):
            for label in exchanges.labels_of(source):
                do = _on(exchanges.begin, audit.id, label, place)
                yield Operation(f"begin {number} at {place}, {label}", do)
        if (speaking := both[place].speaking.get(audit.id)) is None:
            continue
        if speaking.stage is MessageKind.ASK:
            yield from _asking(f"ask {number} at {place}", audit.id, place)
            continue
        yield Operation(f"go on {number} at {place}", _on(exchanges.go_on, audit.id, place))
        if source == "hidden":
            do = _on(exchanges.prove_wrongly, audit.id, place)
            yield Operation(f"wrong proof of {number} at {place}", do)


def _asking(name: str, audit_id: str, place: int) -> Iterator[Operation]:
    """Yield the last step, alone, with a crash or a fault, and with something else half-way."""
    ask = _on(exchanges.ask, audit_id, place)
    yield Operation(name, ask)
    yield Operation(f"{name}, fault after the draw", exchanges.faulty(ask))
    for write in (2, 3, 4):
        yield Operation(f"{name}, crash before write {write}", _crashing(ask, write))
    meanwhile = {"cancel": _on(_cancel, audit_id), "give up": exchanges.give_up}
    for write in (1, 2, 3):
        for other, do in meanwhile.items():
            halfway = _meanwhile(ask, write, do)
            yield Operation(f"{name}, {other} before write {write}", halfway)


def _audit_operations(audits: Any, sources: Any) -> Iterator[Operation]:
    waiting = [audit for audit in audits if audit.state in ("charged", "running")]
    for number, audit in enumerate(audits):
        if audit.state == "charged":
            yield Operation(f"cancel {number}", _on(_cancel, audit.id))
    if any(audit.kind != "two-party" for audit in waiting):
        yield Operation("run", _run)
        yield Operation("run, crash before the release", _crashing(_run, 2))
        yield Operation("run, fault after the draw", exchanges.faulty(_run))
    for audit in waiting:
        if audit.kind == "two-party":
            yield from _answers(audit.id, sources[audit.audience_id])
            yield Operation("give up", exchanges.give_up)


def _answers(audit_id: str, source: str) -> Iterator[Operation]:
    """Yield whole runs of one audit."""
    labels = exchanges.labels_of(source)
    for label in labels:
        yield Operation(f"answer {label}", _on(exchanges.answer, audit_id, label))
    answer = _on(exchanges.answer, audit_id, labels[0])
    for write in (2, 3, 4, 5):
        name = f"answer {labels[0]}, crash before write {write}"
        yield Operation(name, _crashing(answer, write))
    yield Operation(f"answer {labels[0]}, fault after the draw", exchanges.faulty(answer))
    if source == "hidden":
        wrong = _on(exchanges.answer_wrongly, audit_id, labels[0])
        yield Operation(f"answer {labels[0]}, wrong proof", wrong)


def _on(do: Callable[..., None], *given: Any) -> Callable[[World, Observed], None]:
    return lambda world, observed: do(world, observed, *given)


def _crashing(do: Callable[[World, Observed], None], at: int) -> Callable[[World, Observed], None]:
    """Return the same operation in a process that dies before its transaction of this number."""

    def die(world: World, observed: Observed) -> None:
        raise Killed

    return _meanwhile(do, at, die)


def _meanwhile(
    do: Callable[[World, Observed], None], at: int, other: Callable[[World, Observed], None]
) -> Callable[[World, Observed], None]:
    """Return the same operation, with another one before its transaction of this number."""

    def interrupted(world: World, observed: Observed) -> None:
        write, begun = world.store.write, 0

        @contextmanager
        def counted() -> Iterator[Session]:
            nonlocal begun
            # The renewal of leases keeps its own time, and is no step of the operation.
            renewing = threading.current_thread().name == "leases"
            begun += not renewing
            if begun == at and not renewing:
                with patch.object(world.store, "write", write), suppress(ApiError):
                    other(world, observed)
            with write() as session:
                yield session

        with patch.object(world.store, "write", counted):
            do(world, observed)

    return interrupted


def _upload(world: World, _: Observed) -> None:
    members = Members("username", pa.array(UPLOADED))
    found = match_isolating_failures(world.service.platform.people, members)
    binding = bind(members, world.settings)
    digest = f"sha256:{hashlib.sha256(repr(UPLOADED).encode()).hexdigest()}"
    with world.store.write() as session:
        draft = AudienceDraft.model_validate({"groups": ["g0"], "ordered": True})
        made = uploads.create(session, world.caller, draft, world.settings)
        audience = uploads.get_owned_open(session, world.caller, made.id)
        part = members, binding, digest, world.settings, 0.0
        accepted = uploads.accept_part(session, audience, "g0", 0, *part, instead_of=None)
    uploads.store_matches(world.store, accepted[1], found)


def _seal(world: World, _: Observed, audience_id: str) -> None:
    people = world.service.platform.people
    sealing.seal(world.store, world.caller, audience_id, bytes(16), people, world.settings)


def _hide(world: World, _: Observed) -> None:
    commitment = "sha256:" + "0" * 64
    draft = HiddenDraft(identifiers="username", rows=ROWS, commitment=commitment)
    with world.store.write() as session:
        hidden.hide(session, world.caller, draft, world.service.platform, world.settings)


def _sample(world: World, _: Observed) -> None:
    groups = [{"label": "g0", "value": CALLED, "size": ROWS}]
    draft = SampleDraft.model_validate({"attribute": "name", "groups": groups})
    people = world.service.platform.people
    sampling.draw(world.store, world.caller, draft, people, world.settings)


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
    submissions = AuditSubmission(world.store, world.service.platform, world.settings)
    observed.audits.add(submissions.submit(world.caller, request, statement).id)


def _cancel(world: World, observed: Observed, audit_id: str) -> None:
    observed.audits.add(audit_id)
    with world.store.write() as session:
        _call(cancellation.cancel, session, world, audit_id)


def _call(cancel: Callable[..., Any], session: Session, world: World, audit_id: str) -> None:
    given = [session, world.caller, audit_id, world.settings]
    cancel(*given[: cancel.__code__.co_argcount])


def _run(world: World, observed: Observed) -> None:
    def moved(audit_id: str, _state: str) -> None:
        observed.audits.add(audit_id)

    replace(world.service.worker(), on_state_change=moved).run_one()


def _erase(world: World, _: Observed, audience_id: str) -> None:
    with world.store.write() as session:
        lock(session)
        erase(session, uploads.get_owned(session, world.caller, audience_id, lock="skip"))


def _renew(world: World, _: Observed) -> None:
    world.days += 1


def _expire(world: World, _: Observed) -> None:
    """Let the mandate end, and the time for which people are kept."""
    world.days += 60
    expiry.purge_expired(world.store)
