"""Trial content: kept as uploaded, named on receipts by its digest."""

from collections.abc import Mapping
from typing import Any

from sqlmodel import Session

from api.auth.caller import Caller
from api.clock import now
from api.errors import NotFoundError
from api.ids import new_id
from api.ledger import append, lock
from api.store import ContentRow, find
from openapi.models import Content, ContentDraft
from privacy.content import FIELDS, content_digest
from privacy.receipts import digest


def create(session: Session, caller: Caller, draft: ContentDraft) -> Content:
    lock(session)
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
    return view(row)


def owned(session: Session, caller: Caller, content_id: str) -> ContentRow:
    """The auditor's own content; another auditor's is not there."""
    row = find(session, ContentRow, id=content_id, auditor_id=caller.auditor)
    if row is None:
        raise NotFoundError(f"no content {content_id}: upload it with POST /v1/contents")
    return row


def for_platform(row: ContentRow) -> Mapping[str, Any]:
    """The content as `Scores.score` takes it."""
    return {
        "kind": row.kind,
        "title": row.title,
        "text": row.text,
        "attributes": row.attributes,
        "image": row.image,
    }


def view(row: ContentRow) -> Content:
    return Content.model_validate(row.model_dump(exclude={"auditor_id", "researcher_id", "image"}))
