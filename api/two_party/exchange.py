"""Exchange of messages: one of the auditor's is answered by one of the platform's.

A HELLO begins a run, which replaces any earlier unanswered run of the audit. A message that was
answered before gets the same answer again. A message that cannot be accepted is refused with its
reason, and the run is unchanged. A wrong proof ends the audit, and its charge stays (`failures`).
The first ASK reads, releases and commits, in this order; only then is there anything to send
(`delivery`).
"""

import logging
import secrets

from sqlmodel import Session, select

from api import ledger
from api.audits.job import AuditJob
from api.audits.pricing import load_audience_facts
from api.audits.queries import get_owned
from api.audits.release import present, state
from api.audits.states import OPEN
from api.db import AudienceRow, AuditRow, MandateRow, MessageRow, RunRow
from api.identity.caller import Caller
from api.kernel import failpoints
from api.kernel.clock import next_second, now
from api.kernel.errors import (
    BeginAgainError,
    ConflictError,
    MandateSuspendedError,
    MessageRefusedError,
    UnavailableError,
)
from api.kernel.failpoints import Failpoint
from api.kinds.registry import KINDS
from api.kinds.two_party import NAME, terms_of
from api.ledger.checkpoints import issue_checkpoint
from api.mandates.regulator_key import load_regulator_key
from api.platforms.fault_isolation import PlatformDownError
from api.two_party import delivery, stored_messages
from api.two_party.dependencies import TwoPartyParts
from api.two_party.failures import (
    WRONG_PROOF,
    fail_run,
    final_once_drawn,
    finish_failed,
)
from api.two_party.platform_half import PlatformHalf
from api.two_party.runs import LiveRun
from openapi.resources import REQUEST, Price, TwoPartyRelease
from privacy.two_party import PlatformParty
from privacy.two_party.errors import MessageError, TwoPartyError, WrongProofError
from privacy.two_party.messages import read_number

log = logging.getLogger(__name__)


def exchange(parts: TwoPartyParts, caller: Caller, audit_id: str, message: bytes) -> bytes:
    """Return the answer to a message of this audit."""
    failpoints.hit(Failpoint.MESSAGE_RECEIVED)
    reply = _answer(parts, caller, audit_id, message)
    failpoints.hit(Failpoint.MESSAGE_ANSWERED)
    return reply


def _answer(parts: TwoPartyParts, caller: Caller, audit_id: str, message: bytes) -> bytes:
    with parts.store.read() as session:
        audit = get_audit(session, caller, audit_id)
        run = session.get(RunRow, audit_id)
        answered = run is not None and run.answered_at is not None
        if not answered:
            _check_open(session, audit)
    if answered:
        return stored_messages.find_answer(parts, audit_id, message)
    finish_failed(audit_id)
    try:
        return _pass_on(parts, audit, _live(parts, audit, message), message)
    except MessageError as error:
        raise MessageRefusedError(
            f"{str(error).rstrip('.')}. The run is unchanged.", reason=error.code
        ) from error


def get_audit(session: Session, caller: Caller, audit_id: str) -> AuditRow:
    audit = get_owned(session, caller, audit_id)
    if audit.kind != NAME:
        raise ConflictError(f"An audit of kind {audit.kind} has no messages.", state=audit.state)
    return audit


def _check_open(session: Session, audit: AuditRow) -> None:
    if audit.state not in OPEN:
        raise ConflictError(f"The audit is {audit.state}: no run can begin.", state=audit.state)
    mandate = session.get_one(MandateRow, audit.mandate_id)
    # A run that has begun is finished in any case; other audits wait, as with every kind.
    if audit.state == "charged" and mandate.state != "active":
        raise MandateSuspendedError(
            f"The mandate {mandate.id} is {mandate.state}. The audit waits.", mandate_id=mandate.id
        )


def _live(parts: TwoPartyParts, audit: AuditRow, message: bytes) -> LiveRun:
    """Return the run of the message: the present one, or a new one if the message begins it."""
    run = parts.runs.find(audit.id)
    if run is not None and run.party.refuted:
        return run  # no other run may begin before its failure is committed
    if read_number(message) == 0 and not (run and run.began_with(message)):
        return _begin(parts, audit, message)
    if run is None:
        raise BeginAgainError(
            "The run is not under way here: its process ended, or it was idle too long. Begin a new"
            " run. Nothing is charged again.",
            case="run-not-under-way",
        )
    return run


def _begin(parts: TwoPartyParts, audit: AuditRow, message: bytes) -> LiveRun:
    """Begin a run; if the message does not begin one, nothing changes."""
    size = _size(parts, audit)
    parts.runs.refuse_full(audit.id, size, parts.settings)
    name = secrets.token_hex(16)
    try:
        half = PlatformHalf.of(parts.store, parts.settings, parts.platform, audit, name)
        terms = terms_of(half.request, half.facts, audit.id)
        run = LiveRun(name, PlatformParty(terms, half.join, half.values, half.release), half, size)
    except PlatformDownError as error:
        log.exception("two-party.begin", extra={"audit": audit.id})
        raise _lost(error) from error
    run.receive(message)
    with parts.store.write() as session:
        row = session.get(RunRow, audit.id, with_for_update=True)
        if row is not None and row.answered_at is not None:
            raise BeginAgainError("Another run was answered at this moment. Send its last message.")
        row = row or RunRow(audit_id=audit.id, run=name, terms="", begun_at=now())
        row.run, row.terms, row.begun_at = name, terms.to_json().decode(), now()
        mandate = session.get_one(MandateRow, audit.mandate_id)
        row.sealed_to = load_regulator_key(session, mandate)["x"]
        session.add(row)
    parts.runs.add(audit.id, run)
    return run


def _size(parts: TwoPartyParts, audit: AuditRow) -> int:
    """Return the memory that a run takes, computed from the upload and the request."""
    with parts.store.read() as session:
        facts = load_audience_facts(session, session.get_one(AudienceRow, audit.audience_id))
    return KINDS[NAME].held_bytes(REQUEST.validate_json(audit.request), facts)


def _pass_on(parts: TwoPartyParts, audit: AuditRow, run: LiveRun, message: bytes) -> bytes:
    with run.lock:
        finish_failed(audit.id)
        try:
            with final_once_drawn(parts.store, run.half):
                reply = run.receive(message)
        except MessageError:
            raise
        except WrongProofError as error:
            # The run stays until the failure is committed, and accepts no other message. The audit
            # fails even if another run began while the proof was verified.
            failed = fail_run(parts.store, audit.id, None, WRONG_PROOF)
            parts.runs.remove(audit.id, run)
            if not failed:
                raise _replaced() from error
            raise MessageRefusedError(
                f"{error} The audit has failed, and its charge stays spent.", reason=error.code
            ) from error
        except (PlatformDownError, BeginAgainError, TwoPartyError) as error:
            parts.runs.remove(audit.id, run)
            raise _lost(error) from error
        if not run.party.answered:
            return reply
        with final_once_drawn(parts.store, run.half):
            _commit(parts, audit, run)
    parts.runs.remove(audit.id, run)
    return stored_messages.find_answer(parts, audit.id, message)


def _replaced() -> BeginAgainError:
    return BeginAgainError("Another run has replaced this one, or the audit has ended.")


def _lost(error: Exception) -> BeginAgainError | UnavailableError:
    """Return the error for a run that cannot continue; its charge stays usable."""
    if isinstance(error, PlatformDownError):
        return UnavailableError(
            "The platform does not answer. Begin a new run later. Nothing is charged again.",
            headers={"Retry-After": "5"},
            case="platform-silent",
        )
    return BeginAgainError(f"{str(error).rstrip('.')}. Begin a new run. Nothing is charged again.")


def _commit(parts: TwoPartyParts, audit: AuditRow, run: LiveRun) -> None:
    """Commit the answer; no other answer on this charge is possible after that."""
    key = parts.signing_keys.current("ledger")
    with parts.store.write() as session:
        at = next_second(ledger.lock(session))
        row = session.get_one(RunRow, audit.id, with_for_update=True)
        if row.run == run.name and row.answered_at is not None:
            return  # committed by a concurrent request
        running = select(AuditRow.id).where(AuditRow.id == audit.id, AuditRow.state == "running")
        if row.run != run.name or session.exec(running.with_for_update()).first() is None:
            raise BeginAgainError("Another run has replaced this one, whose sums are deleted.")
        facts = {"audit_id": audit.id, "transcript": run.party.transcript}
        entry = ledger.append(session, "answer", facts, audit.auditor_id, at=at)
        row.answered_at, row.entry = at, entry.number
        row.transcript, row.release = run.party.transcript, _described(session, audit, run)
        session.add(row)
        session.add_all(
            MessageRow(audit_id=audit.id, number=number, body=body)
            for number, body in enumerate(run.messages)
        )
        session.flush()
        if delivery.opens_at_random(session.get_one(MandateRow, audit.mandate_id).opened_share):
            # Kept for ever: a verifier of the ledger must be able to repeat the draw.
            issue_checkpoint(session, [key], parts.origin, at, lasting=True)
        failpoints.hit(Failpoint.RELEASE_WRITTEN)
    failpoints.hit(Failpoint.RELEASE_COMMITTED)


def _described(session: Session, audit: AuditRow, run: LiveRun) -> str:
    """Return the release as JSON, without its time and its receipt."""
    half = run.half
    work = AuditJob(
        audit,
        half.request,
        Price.model_validate_json(audit.price),
        half.contents,
        session.get_one(AudienceRow, audit.audience_id),
        half.facts,
    )
    released = present(work, {"transcript": run.party.transcript})
    fields = {**state(work, half.model, half.platform), **released}
    draft = TwoPartyRelease.model_validate({**fields, "released_at": now(), "receipt": ""})
    return draft.model_dump_json(exclude={"released_at", "receipt"})
