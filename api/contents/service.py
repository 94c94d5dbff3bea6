"""Trial content: stored as uploaded, identified on receipts by its digest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select
from sqlmodel import Session, col

from api.db import ContentRow, Store, find
from api.identity.caller import Caller
from api.kernel.clock import now
from api.kernel.errors import NotFoundError
from api.kernel.ids import new_id
from api.kernel.settings import Settings
from api.ledger import append, lock
from api.web.quotas import check_contents
from openapi.resources import Content, ContentDraft
from privacy.content import FIELDS, content_digest
from privacy.receipts import digest

# Fields that the platform receives.
_FIELDS = (*sorted(FIELDS), "image")
_THESE = col(ContentRow.id).in_(bindparam("contents", expanding=True))
_DIGESTS = select(col(ContentRow.id), col(ContentRow.digest)).where(
    col(ContentRow.auditor_id) == bindparam("auditor"), _THESE
)
_SHOWN = select(*(col(getattr(ContentRow, name)) for name in ("id", "digest", *_FIELDS))).where(
    _THESE
)


def upload_content(
    store: Store, caller: Caller, draft: ContentDraft, settings: Settings
) -> Content:
    """Store content as it was uploaded, in a transaction of its own."""
    with store.write() as session:
        return create(session, caller, draft, settings)


def create(session: Session, caller: Caller, draft: ContentDraft, settings: Settings) -> Content:
    """Store content as it was uploaded, if the auditor's quota allows it."""
    lock(session)
    check_contents(session, caller.auditor, settings)
    fields = draft.model_dump(include=set(FIELDS))
    image = draft.image.data if draft.image else None
    image_digest = digest(image) if image else None
    image_type = draft.image.media_type if draft.image else None
    row = ContentRow(
        id=new_id("content"),
        auditor_id=caller.auditor,
        researcher_id=caller.researcher_id,
        image=image,
        image_digest=image_digest,
        digest=content_digest(fields, image_digest, image_type),
        created_at=now(),
        **fields,
    )
    session.add(row)
    facts = {"content_id": row.id, "digest": row.digest, "by": caller.researcher_id}
    append(session, "content", facts, caller.auditor)
    return to_wire(row)


def get_owned(session: Session, caller: Caller, content_id: str) -> ContentRow:
    """Return a content of the caller's auditor; for other auditors it does not exist."""
    row = find(session, ContentRow, id=content_id, auditor_id=caller.auditor)
    if row is None:
        raise _missing(content_id)
    return row


def load_digests(session: Session, auditor_id: str, content_ids: Sequence[str]) -> list[str]:
    """Return the digests of the auditor's own contents; read nothing else of them."""
    if not content_ids:
        return []
    asked = {"auditor": auditor_id, "contents": content_ids}
    found = {row.id: row.digest for row in session.connection().execute(_DIGESTS, asked)}
    for content_id in content_ids:
        if content_id not in found:
            raise _missing(content_id)
    return [found[content_id] for content_id in content_ids]


@dataclass(frozen=True)
class StoredContent:
    """Content in the form of `Scores.score`, with its digest."""

    digest: str
    fields: Mapping[str, Any]


def load_contents(session: Session, content_ids: Sequence[str]) -> list[StoredContent]:
    """Return these contents of any auditor; the right to use them was checked before."""
    if not content_ids:
        return []
    rows = session.connection().execute(_SHOWN, {"contents": content_ids}).mappings()
    found = {row["id"]: row for row in rows}
    return [
        StoredContent(found[each]["digest"], {name: found[each][name] for name in _FIELDS})
        for each in content_ids
    ]


def to_wire(row: ContentRow) -> Content:
    return Content.model_validate(row.model_dump(exclude={"auditor_id", "researcher_id", "image"}))


def _missing(content_id: str) -> NotFoundError:
    return NotFoundError(f"No content {content_id}. Upload it with POST /v1/contents.")
