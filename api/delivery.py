"""The release, written down: the audit has ended, and its bytes are the same for ever (R3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import bindparam
from sqlmodel import Session, col, update

from api import ledger
from api.audiences.sealing import keep_until
from api.clock import now, whole_second
from api.ledger import Draft
from api.ledger.changes import record_change
from api.platform import Platform
from api.settings import Settings
from api.store import AudienceRow, AuditRow, ReleaseRow, change_all, insert
from privacy.receipts import digest

_KEEP = (
    update(AudienceRow)
    .where(col(AudienceRow.id) == bindparam("audience"))
    .values(expires_at=bindparam("until"))
)


@dataclass(frozen=True)
class Delivery:
    """The release of a locked audit; `more` are facts of its entry beside those of all."""

    audit: AuditRow
    body: bytes
    model: str | None
    more: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        return digest(self.body)

    @property
    def draft(self) -> Draft:
        facts = {"audit_id": self.audit.id, "digest": self.digest, "model_digest": self.model}
        return Draft("release", facts | dict(self.more), self.audit.auditor_id)


def deliver(
    session: Session,
    deliveries: Sequence[Delivery],
    platform: Platform,
    settings: Settings,
    written: datetime,
) -> None:
    """End locked audits with their releases, at this moment of the books."""
    at = whole_second(now())
    ended = {"state": "released", "finished_at": at, "lease_until": None}
    change_all(session, [(each.audit, ended) for each in deliveries])
    until = keep_until(at, settings)
    kept = [{"audience": each.audit.audience_id, "until": until} for each in deliveries]
    session.connection().execute(_KEEP, kept)
    # What scores now; a log may be the work of a model of the past.
    if platform.scores and platform.scores.model_digest in {each.model for each in deliveries}:
        record_change(session, "model", {"digest": platform.scores.model_digest})
    entries = ledger.append_all(session, [each.draft for each in deliveries], at=written)
    releases = (
        ReleaseRow(
            audit_id=each.audit.id,
            body=each.body,
            digest=each.digest,
            entry=entry.number,
            released_at=at,
        )
        for each, entry in zip(deliveries, entries, strict=True)
    )
    insert(session, *releases)
