"""Queries of trial content by its own auditor."""

from sqlmodel import Session, select

from api.contents import service
from api.db import ContentRow
from api.identity.caller import Caller
from api.web.pagination import page
from openapi.resources import Content, Page


def list_contents(
    session: Session, caller: Caller, cursor: str | None = None, limit: int = 50
) -> Page[Content]:
    """Return the contents of the caller's auditor, newest first."""
    mine = select(ContentRow).where(ContentRow.auditor_id == caller.auditor)
    return page(session, mine, ContentRow.id, service.to_wire, cursor, limit)


def get_content(session: Session, caller: Caller, content_id: str) -> Content:
    """Return one content of the caller's auditor; for other auditors it does not exist."""
    return service.to_wire(service.get_owned(session, caller, content_id))
