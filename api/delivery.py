"""The release, written down: the audit has ended, and its bytes are the same for ever (R3)."""

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam
from sqlmodel import Session, col, update

from api import ledger
from api.audiences.sealing import keep_until
from api.clock import now, whole_second
from api.ledger.changes import record_change
from api.platform import Platform
from api.settings import Settings
from api.store import AudienceRow, AuditRow, ReleaseRow, change, insert
from privacy.receipts import digest

_KEEP = (
    update(AudienceRow)
    .where(col(AudienceRow.id) == bindparam("audience"))
    .values(expires_at=bindparam("until"))
)


def deliver(
    session: Session,
    row: AuditRow,
    body: bytes,
    model: str | None,
    platform: Platform,
    settings: Settings,
    written: datetime,
    **more: Any,
) -> None:
    """End a locked audit with this release; `more` are facts of its entry beside those of all."""
    at = whole_second(now())
    change(session, row, state="released", finished_at=at, lease_until=None)
    kept = {"audience": row.audience_id, "until": keep_until(at, settings)}
    session.connection().execute(_KEEP, kept)
    facts = {"audit_id": row.id, "digest": digest(body), "model_digest": model, **more}
    # What scores now; a log may be the work of a model of the past.
    if platform.scores and model == platform.scores.model_digest:
        record_change(session, "model", {"digest": model})
    entry = ledger.append(session, "release", facts, row.auditor_id, at=written)
    release = ReleaseRow(
        audit_id=row.id,
        body=body,
        digest=digest(body),
        entry=entry.number,
        released_at=at,
    )
    insert(session, release)
