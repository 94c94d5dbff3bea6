"""Quotas: the resources that one auditor may have in the service.

Each is checked in the transaction that would add one. All such transactions take the same lock, so
that two requests cannot both take the last slot. They count the auditor's own actions, never the
matches (R2). The rate of requests is limited in `api.identity.rate_limit`.
"""

from sqlalchemy import ColumnElement, func
from sqlmodel import Session, col, select

from api.db import AudienceRow, AuditorRow, ContentRow, PartRow
from api.kernel.errors import QuotaExceededError
from api.kernel.settings import Settings


def check_contents(session: Session, auditor_id: str, settings: Settings) -> None:
    """Refuse one more content above the quota. The caller holds the lock of the ledger."""
    _check(
        _count(session, col(ContentRow.auditor_id) == auditor_id),
        settings.contents_per_auditor,
        "contents",
        "Contents are never deleted, because receipts name them. Use existing ones, or ask"
        " the operator to raise `contents_per_auditor`.",
    )


def check_audiences(
    session: Session, auditor_id: str, settings: Settings, *, upload: bool = False
) -> None:
    """Refuse one more audience above the quota, and one more open upload above its own."""
    _lock_auditor(session, auditor_id)
    mine = col(AudienceRow.auditor_id) == auditor_id
    _check(
        _count(session, mine, col(AudienceRow.state) != "erased"),
        settings.audiences_per_auditor,
        "audiences",
        "Erase one with DELETE /v1/audiences/{id}, or wait until one expires.",
    )
    if upload:
        _check(
            _count(session, mine, col(AudienceRow.state) == "open"),
            settings.open_uploads_per_auditor,
            "open uploads",
            "Seal or delete one, or wait until one expires: an upload that is not touched is"
            f" erased after {settings.upload_kept_hours} hours.",
        )


def check_parts(session: Session, audience_id: str, settings: Settings) -> None:
    """Refuse one more part above the quota. The caller holds the lock of the audience."""
    _check(
        _count(session, col(PartRow.audience_id) == audience_id),
        settings.parts_per_audience,
        "parts in this audience",
        "Empty a group, and send it again in larger parts.",
    )


def _lock_auditor(session: Session, auditor_id: str) -> None:
    """Take a lock that does not block rows which refer to the auditor (FOR NO KEY UPDATE)."""
    query = select(AuditorRow.id).where(AuditorRow.id == auditor_id)
    session.exec(query.with_for_update(key_share=True)).one()


def _count(session: Session, *conditions: ColumnElement[bool]) -> int:
    found: int = session.execute(select(func.count()).where(*conditions)).scalar_one()
    return found


def _check(kept: int, limit: int, what: str, advice: str) -> None:
    if kept < limit:
        return
    raise QuotaExceededError(
        f"You have {kept} {what}; the limit is {limit}. Nothing was stored. {advice}",
        quota=what,
        limit=limit,
    )
