"""Charges of audits, as regulators see them."""

from sqlmodel import Session, select

from api.db import ChargeRow
from api.db.types import as_decimal
from api.web.pagination import page
from openapi.resources import Charge, Page, Price


def list_charges(
    session: Session,
    auditor_id: str | None = None,
    audience_id: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Charge]:
    """Return all charges, or those of one auditor or one audience, newest first."""
    query = select(ChargeRow)
    if auditor_id is not None:
        query = query.where(ChargeRow.auditor_id == auditor_id)
    if audience_id is not None:
        query = query.where(ChargeRow.audience_id == audience_id)
    return page(session, query, ChargeRow.id, to_wire, cursor, limit)


def to_wire(row: ChargeRow) -> Charge:
    """Return the charge in its wire form."""
    price = Price.model_validate_json(row.price)
    computed = {"epsilon", "rho", "debit", "exploration_loss", "assumes", "refunded"}
    return Charge(
        **row.model_dump(include=Charge.model_fields.keys() - computed),
        epsilon=price.epsilon,
        rho=price.rho,
        debit=as_decimal(row.debit),
        exploration_loss=as_decimal(row.exploration_loss),
        assumes=price.assumes,
        refunded=row.refunded_at is not None,
    )
