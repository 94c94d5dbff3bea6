"""Delivery of an answered run: after the draw and, if the run was drawn, after its opening.

The share of runs that the mandate has opened is drawn by the checkpoint that ends with the answer,
and is signed with it (`privacy.ledger.two_party_runs.is_run_opened`). Until a regulator has opened
a run that was drawn, nothing of it leaves. Then the bytes are the same for everybody who asks, at
any time.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sqlmodel import Session, col, select

from api import ledger
from api.audits.publication import FinishedRun, publish
from api.audits.release import scoring_model, sign_release
from api.db import AuditRow, CheckpointRow, MandateRow, RunRow, Store
from api.identity.signing_keys import SigningKeys
from api.kernel.clock import next_second, now, whole_second
from api.kernel.errors import ConflictError
from api.kernel.settings import Settings
from api.kinds.two_party import NAME
from api.platforms.interfaces import Platform
from api.telemetry.metrics import AUDITS
from privacy.ledger import notes
from privacy.ledger.two_party_runs import is_run_opened

Awaited = Literal["opening"]


@dataclass(frozen=True)
class OpeningDraw:
    """Draw of a run: the step that it waits for, and the checkpoint that decided the draw, if
    any.
    """

    awaited: Awaited | None
    head: CheckpointRow | None = None

    def facts(self) -> dict[str, Any]:
        if self.head is None:
            return {}
        return {"draw": {"size": self.head.size, "root": read_root(self.head).hex()}}


def deliver_release(
    store: Store, platform: Platform, keys: SigningKeys, settings: Settings, audit_id: str
) -> Awaited | None:
    """Release the run if it waits for nothing; otherwise return the step it waits for."""
    # before the transaction, because the first key is written to the database
    key = keys.current("receipt")
    with store.write() as session:
        written = next_second(ledger.lock(session))
        audit, run = lock_answered_audit(session, audit_id)
        if audit.state == "released":
            return None
        if audit.state != "running":
            raise ConflictError(f"The audit is {audit.state}.", state=audit.state, case=audit.state)
        draw = find_draw(session, audit, run)
        if draw.awaited is None:
            fields = json.loads(run.release or "{}")
            body = sign_release(fields, whole_second(now()), key)
            facts = {"transcript": run.transcript, **draw.facts()}
            model = fields["model_digest"]
            made = FinishedRun(audit, body, model, scoring_model(model, platform), facts)
            publish(session, [made], settings, written)
    if draw.awaited is None:
        AUDITS.labels(state="released").inc()
    return draw.awaited


def deliver_all_releases(
    store: Store, platform: Platform, keys: SigningKeys, settings: Settings
) -> None:
    """Release answered runs that wait for nothing, even if their auditor never returns."""
    answered = col(RunRow.answered_at).is_not(None)
    query = select(AuditRow.id).join(RunRow, col(RunRow.audit_id) == col(AuditRow.id))
    with store.read() as session:
        found = session.exec(query.where(AuditRow.state == "running", answered)).all()
    for audit_id in found:
        with suppress(ConflictError):  # the audit has ended meanwhile
            deliver_release(store, platform, keys, settings, audit_id)


def lock_answered_audit(session: Session, audit_id: str) -> tuple[AuditRow, RunRow]:
    """Return a two-party audit that was answered, and its run, both locked."""
    audit = session.exec(select(AuditRow).where(AuditRow.id == audit_id).with_for_update()).first()
    run = session.get(RunRow, audit_id, with_for_update=True)
    if audit is None or audit.kind != NAME or run is None or run.answered_at is None:
        raise ConflictError("No run of this audit has been answered yet.")
    return audit, run


def find_draw(session: Session, audit: AuditRow, run: RunRow) -> OpeningDraw:
    """Return whether the run has to be opened, and the checkpoint that decided it."""
    share = session.get_one(MandateRow, audit.mandate_id).opened_share
    if not opens_at_random(share):
        return OpeningDraw("opening" if share == 1 and not run.opened else None)
    head = session.get_one(CheckpointRow, (run.entry or 0) + 1)
    waits = is_run_opened(share, read_root(head), audit.id) and not run.opened
    return OpeningDraw("opening" if waits else None, head)


def opens_at_random(share: Fraction) -> bool:
    """Return whether runs are drawn for opening: not if all of them are opened, or none."""
    return 0 < share < 1


def read_root(head: CheckpointRow) -> bytes:
    return notes.Checkpoint.parse(notes.Note.parse(head.note).text).root
