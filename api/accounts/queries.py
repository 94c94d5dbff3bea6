"""Queries of registered auditors and researchers, for regulators."""

from sqlmodel import Session, select

from api.accounts.service import auditor_to_wire, researcher_to_wire
from api.db import AuditorRow, ResearcherRow
from api.web.pagination import page
from openapi.resources import Auditor, Page, Researcher


def list_auditors(session: Session, cursor: str | None = None, limit: int = 50) -> Page[Auditor]:
    """Return all auditors, newest first."""
    return page(session, select(AuditorRow), AuditorRow.id, auditor_to_wire, cursor, limit)


def list_researchers(
    session: Session, cursor: str | None = None, limit: int = 50
) -> Page[Researcher]:
    """Return all registered individuals, newest first."""
    return page(session, select(ResearcherRow), ResearcherRow.id, researcher_to_wire, cursor, limit)
