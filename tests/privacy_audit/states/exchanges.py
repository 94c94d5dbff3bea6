"""Two-party runs, whole or step by step, in one of two processes of the service.

The steps are: begin (HELLO), go on (up to the first ASK), and ask. Between them anything else may
happen: a cancellation, another HELLO in the same process or in the other one, the time at which a
run is given up, the end of a process.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from sqlmodel import select

from api.audiences.parsing import tokens
from api.audits.pricing import load_audience_facts
from api.db import AudienceRow, AuditRow
from api.kernel import failpoints
from api.kernel.errors import ApiError
from api.kernel.failpoints import Failpoint
from api.kinds.two_party import terms_of
from api.two_party import exchange
from api.two_party.timeouts import end_stale_runs
from openapi.resources import REQUEST, TwoPartyRequest
from privacy.two_party import AuditorParty, sealing_key_of
from privacy.two_party.messages import MessageKind
from tests.privacy_audit.states.observed import FaultError, Killed, Observed
from tests.privacy_audit.states.processes import Process, Speaking
from tests.privacy_audit.states.world import World

# Whom a run of a two-party audit names: the auditor may send other rows in the next run.
HIDDEN = {"bob, cat": ("bob", "cat"), "ann, cat": ("ann", "cat")}
# The rows of an upload were matched before.
ROWS_OF_UPLOAD = "the upload"
_PROOF_BYTES = 64


def begin(world: World, observed: Observed, audit_id: str, label: str, place: int) -> None:
    """Send the HELLO of a new run; an earlier one of the same process goes on if it is refused."""
    observed.audits.add(audit_id)
    process, party = world.processes[place], _party(world, audit_id, label)
    message = party.receive(_said(world, process, audit_id, party.start()))
    assert message is not None
    process.speaking[audit_id] = Speaking(label, party, message)


def go_on(
    world: World,
    observed: Observed,
    audit_id: str,
    place: int,
    until: MessageKind | None = MessageKind.ASK,
) -> None:
    """Send messages until the next one is of this kind; without one, all of them."""
    observed.audits.add(audit_id)
    process = world.processes[place]
    speaking = process.take(audit_id)
    with _ended_if_refused(process, audit_id):
        while until is None or speaking.stage is not until:
            reply = _said(world, process, audit_id, speaking.message)
            message = speaking.party.receive(reply)
            if message is None:
                del process.speaking[audit_id]
                return
            speaking = replace(speaking, message=message)
            process.speaking[audit_id] = speaking


def ask(world: World, observed: Observed, audit_id: str, place: int) -> None:
    go_on(world, observed, audit_id, place, None)


def prove_wrongly(world: World, observed: Observed, audit_id: str, place: int) -> None:
    """Go on up to the proof, and send one that does not hold."""
    go_on(world, observed, audit_id, place, MessageKind.PROOF)
    process = world.processes[place]
    speaking, run = process.speaking[audit_id], process.runs.find(audit_id)
    body = bytearray(speaking.message)
    body[-_PROOF_BYTES] ^= 1
    try:
        with _ended_if_refused(process, audit_id):
            _said(world, process, audit_id, bytes(body))
    finally:
        if run is not None and run.party.refuted:
            observed.refuted.add(audit_id)


def answer(world: World, observed: Observed, audit_id: str, label: str) -> None:
    """Exchange one run, from its first message to its release, in a process of its own."""
    with _alone(world):
        begin(world, observed, audit_id, label, 0)
        ask(world, observed, audit_id, 0)


def answer_wrongly(world: World, observed: Observed, audit_id: str, label: str) -> None:
    with _alone(world):
        begin(world, observed, audit_id, label, 0)
        prove_wrongly(world, observed, audit_id, 0)


def end_process(world: World, _: Observed, place: int) -> None:
    world.processes[place].end()


def give_up(world: World, observed: Observed) -> None:
    with world.store.read() as session:
        query = select(AuditRow.id).where(AuditRow.kind == "two-party")
        observed.ended |= set(session.exec(query).all())
    end_stale_runs(world.store, world.settings)


def faulty(do: Callable[[World, Observed], None]) -> Callable[[World, Observed], None]:
    """Return the same operation with an exception right after noise was drawn."""

    def failing(world: World, observed: Observed) -> None:
        counted = failpoints.hit

        def reached(boundary: Failpoint) -> None:
            counted(boundary)
            if boundary is Failpoint.NOISED:
                raise FaultError

        with patch.object(failpoints, "hit", reached):
            do(world, observed)

    return failing


def labels_of(source: str) -> tuple[str, ...]:
    return tuple(HIDDEN) if source == "hidden" else (ROWS_OF_UPLOAD,)


@contextmanager
def _alone(world: World) -> Iterator[None]:
    """Speak with a process that holds no other run, and is gone afterwards."""
    kept = world.processes
    world.processes = (Process(), Process())
    try:
        yield
    finally:
        world.processes = kept


@contextmanager
def _ended_if_refused(process: Process, audit_id: str) -> Iterator[None]:
    """Let the auditor give up a run that was refused; one that met a dead process may try again."""
    try:
        yield
    except ApiError:
        del process.speaking[audit_id]
        raise
    except Killed:
        process.end()
        raise


def _said(world: World, process: Process, audit_id: str, message: bytes) -> bytes:
    service = replace(world.service, runs=process.runs)
    return exchange.exchange(service.two_party, world.caller, audit_id, message)


def _party(world: World, audit_id: str, label: str) -> AuditorParty:
    with world.store.read() as session:
        audit = session.get_one(AuditRow, audit_id)
        request = REQUEST.validate_json(audit.request)
        facts = load_audience_facts(session, session.get_one(AudienceRow, audit.audience_id))
    assert isinstance(request, TwoPartyRequest)
    terms = terms_of(request, facts, audit_id)
    named = tokens("username", pa.array(HIDDEN[label])) if label in HIDDEN else None
    weights = np.full((terms.rows, 1), terms.weights.high)
    key = sealing_key_of(world.regulator_key)
    return AuditorParty(terms, weights, regulator_key=key, tokens=named)
