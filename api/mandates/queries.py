"""Queries of mandates and their remaining budgets, for auditors and regulators."""

from sqlmodel import Session, col, select

from api.db import MandateRow
from api.identity.caller import Caller
from api.kernel.errors import NotFoundError
from api.mandates.service import to_wire
from api.web.pagination import page
from openapi.resources import Budget, Mandate, Page


def get_budget(session: Session, caller: Caller) -> Budget:
    """Return the mandates of the caller's auditor, newest first."""
    mine = select(MandateRow).where(MandateRow.auditor_id == caller.auditor)
    rows = session.exec(mine.order_by(col(MandateRow.id).desc()))
    return Budget(mandates=[to_wire(session, row) for row in rows])


def list_mandates(
    session: Session, auditor_id: str | None = None, cursor: str | None = None, limit: int = 50
) -> Page[Mandate]:
    """Return all mandates, or those of one auditor, newest first."""
    query = select(MandateRow)
    if auditor_id is not None:
        query = query.where(MandateRow.auditor_id == auditor_id)
    return page(session, query, MandateRow.id, lambda row: to_wire(session, row), cursor, limit)


def get_mandate(session: Session, mandate_id: str) -> Mandate:
    """Return one mandate of any auditor."""
    row = session.get(MandateRow, mandate_id)
    if row is None:
        raise NotFoundError(f"no mandate {mandate_id}")
    return to_wire(session, row)
