"""What was answered is delivered once nothing stands in the way: a draw, and maybe an opening.

The share of runs that the mandate has opened is drawn by the first signed head of the ledger that
covers the answer (`privacy.ledger.runs.drawn`). Until then, and until a regulator has opened a run
that was drawn, nothing of it leaves. Then the bytes are the same for everybody who asks, for ever.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal

from sqlmodel import Session, col, select

from api import ledger
from api.audits.two_party import KIND
from api.clock import next_second, now, whole_second
from api.delivery import deliver
from api.errors import ConflictError, MessageRefusedError, NotReleasedError
from api.metrics import AUDITS
from api.releases import signed
from api.service import Service
from api.store import AuditRow, CheckpointRow, MandateRow, MessageRow, RunRow
from privacy.ledger import notes
from privacy.ledger.runs import drawn
from privacy.two_party.messages import number_of

Awaited = Literal["signed-head", "opening"]
_WORDS: dict[Awaited, str] = {
    "signed-head": "the head of the ledger that draws whether the run is opened is signed within"
    " seconds",
    "opening": "a regulator has to open the run first",
}


@dataclass(frozen=True)
class Draw:
    """What a run waits for, and the head by which that was drawn, if one did."""

    awaited: Awaited | None
    head: CheckpointRow | None = None

    def facts(self) -> dict[str, Any]:
        if self.head is None:
            return {}
        return {"draw": {"size": self.head.size, "root": root_of(self.head).hex()}}


def answer_to(service: Service, audit_id: str, message: bytes) -> bytes:
    """The stored answer to a message of the run that was answered."""
    if awaited := settle(service, audit_id):
        raise NotReleasedError(
            f"the run is answered, and nothing can change that: {_WORDS[awaited]}. Send the last"
            " message again",
            headers={"Retry-After": "1" if awaited == "signed-head" else "30"},
            awaited=awaited,
        )
    number = number_of(message)
    with service.store.read() as session:
        sent = session.get(MessageRow, (audit_id, number)) if number is not None else None
        reply = session.get(MessageRow, (audit_id, (number or 0) + 1))
    if number is None or number % 2 or sent is None or sent.body != message or reply is None:
        raise MessageRefusedError(
            "this audit was answered, in another run than this message is of. There is one answer"
            " for each charge: only whoever holds the key of that run can read it",
            reason="answered",
        )
    return reply.body


def settle(service: Service, audit_id: str) -> Awaited | None:
    """Release what can be released; what the run waits for otherwise."""
    with service.store.write() as session:
        written = next_second(ledger.lock(session))
        audit, run = locked(session, audit_id)
        if audit.state == "released":
            return None
        if audit.state != "running":
            raise ConflictError(f"the audit is {audit.state}", state=audit.state)
        draw = draw_of(session, audit, run)
        if draw.awaited is None:
            _release(service, session, audit, run, draw, written)
    if draw.awaited is None:
        AUDITS.labels(state="released").inc()
    return draw.awaited


def locked(session: Session, audit_id: str) -> tuple[AuditRow, RunRow]:
    """A two-party audit that was answered."""
    audit = session.exec(select(AuditRow).where(AuditRow.id == audit_id).with_for_update()).first()
    run = session.get(RunRow, audit_id, with_for_update=True)
    if audit is None or audit.kind != KIND or run is None or run.answered_at is None:
        raise ConflictError("no run of this audit was answered yet")
    return audit, run


def draw_of(session: Session, audit: AuditRow, run: RunRow) -> Draw:
    """Whether the run has to be opened, and by which head that was drawn."""
    share = session.get_one(MandateRow, audit.mandate_id).opened_share
    if share == 0:
        return Draw(None)
    if share == 1:
        return Draw(None if run.opened else "opening")
    head = first_after(session, run.entry or 0)
    if head is None:
        return Draw("signed-head")
    waits = drawn(share, root_of(head), audit.id) and not run.opened
    return Draw("opening" if waits else None, head)


def first_after(session: Session, number: int) -> CheckpointRow | None:
    """The first signed head that covers this entry."""
    size = col(CheckpointRow.size)
    query = select(CheckpointRow).where(size > number).order_by(size).limit(1)
    return session.exec(query).first()


def root_of(head: CheckpointRow) -> bytes:
    return notes.Checkpoint.parse(notes.Note.parse(head.note).text).root


def _release(
    service: Service, session: Session, audit: AuditRow, run: RunRow, draw: Draw, written: Any
) -> None:
    fields = json.loads(run.release or "{}")
    body = signed(fields, whole_second(now()), service.auth.keys.current("receipt"))
    if draw.head is not None:
        # Whoever verifies the ledger must be able to draw again.
        draw.head.lasting = True
        session.add(draw.head)
    deliver(
        session,
        audit,
        body,
        fields["model_digest"],
        service.platform,
        service.settings,
        written,
        transcript=run.transcript,
        **draw.facts(),
    )
