"""Queries of audiences by their own auditor: the upload, never the matches."""

from sqlmodel import Session, select

from api.audiences import uploads
from api.db import AudienceRow
from api.identity.caller import Caller
from api.web.pagination import page
from openapi.resources import Audience, Page


def list_audiences(
    session: Session, caller: Caller, cursor: str | None = None, limit: int = 50
) -> Page[Audience]:
    """Return the audiences of the caller's auditor, newest first."""
    mine = select(AudienceRow).where(AudienceRow.auditor_id == caller.auditor)
    return page(
        session, mine, AudienceRow.id, lambda row: uploads.to_wire(session, row), cursor, limit
    )


def get_audience(session: Session, caller: Caller, audience_id: str) -> Audience:
    """Return one audience of the caller's auditor; for other auditors it does not exist."""
    return uploads.to_wire(session, uploads.get_owned(session, caller, audience_id))
