"""Publication of releases: their audits end, and their bytes never change again (R3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import bindparam
from sqlmodel import Session, col, update

from api import ledger
from api.audiences.sealing import keep_until
from api.db import AudienceRow, AuditRow, ReleaseRow, change_all, insert
from api.kernel.clock import now, whole_second
from api.kernel.settings import Settings
from api.ledger.platform_changes import record_change
from privacy.receipts import digest

_KEEP = (
    update(AudienceRow)
    .where(col(AudienceRow.id).in_(bindparam("audiences", expanding=True)))
    .values(expires_at=bindparam("until"))
)


@dataclass(frozen=True)
class FinishedRun:
    """Result of a run: the bytes of its release, and the model that was used."""

    audit: AuditRow
    body: bytes
    model: str | None
    # The same model, if it is the current one; read before the noise was drawn.
    scoring: str | None = None
    # Facts of its ledger entry, in addition to those of all entries.
    facts: Mapping[str, Any] = field(default_factory=dict)
    # Earliest time of the commit, by the clock of `api.platforms.public_pace`.
    due: float = 0.0

    @cached_property
    def digest(self) -> str:
        return digest(self.body)


def publish(
    session: Session,
    some: Sequence[FinishedRun],
    settings: Settings,
    written: datetime,
) -> None:
    """End these locked audits with their releases, under the ledger lock.

    Nothing here calls the platform: a failure would come after the noise was drawn.
    """
    at = whole_second(now())
    over = {"state": "released", "finished_at": at, "lease_until": None}
    change_all(session, [(made.audit, over) for made in some])
    audiences = sorted({made.audit.audience_id for made in some})
    kept = {"audiences": audiences, "until": keep_until(at, settings)}
    session.connection().execute(_KEEP, kept)
    for scoring in dict.fromkeys(made.scoring for made in some if made.scoring is not None):
        record_change(session, "model", {"digest": scoring})
    entries = ledger.append_all(session, [_draft(made) for made in some], at=written)
    releases = (
        ReleaseRow(
            audit_id=made.audit.id,
            body=made.body,
            digest=made.digest,
            entry=entry.number,
            released_at=at,
        )
        for made, entry in zip(some, entries, strict=True)
    )
    insert(session, *releases)


def _draft(made: FinishedRun) -> ledger.Draft:
    audit = made.audit
    facts = {"audit_id": audit.id, "digest": made.digest, "model_digest": made.model, **made.facts}
    return ledger.Draft("release", facts, audit.auditor_id)
