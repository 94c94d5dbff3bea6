"""Erasing the members of an audience. Commitment, charges, releases and balances stay."""

from sqlmodel import Session, col, delete, select

from api import persons
from api.audiences.uploads import groups_of, pending
from api.charging import bearers
from api.errors import ConflictError
from api.insight import sketches
from api.ledger import append, lock
from api.persons import Burden
from api.store import (
    AudienceRow,
    AuditRow,
    ChargeRow,
    ExclusionRow,
    MessageRow,
    OrderRow,
    PartRow,
)


def erase(session: Session, audience: AudienceRow) -> None:
    """Forget who they were; what they bore is carried forward, so that balances still check.

    The books are locked before any audience: everything that takes both takes them in this order.
    """
    if audience.state == "erased":
        return
    lock(session)
    if pending(session, audience.id):
        raise ConflictError("an audit on this audience has not finished; cancel it or wait")
    charges = select(ChargeRow).where(
        ChargeRow.audience_id == audience.id, col(ChargeRow.refunded_at).is_(None)
    )
    for charge in session.exec(charges).all():
        people = bearers(session, charge.audit_id, audience)
        persons.carry(session, Burden(people, charge.rho, drawn=audience.source == "sample"))
        session.exec(delete(ExclusionRow).where(col(ExclusionRow.audit_id) == charge.audit_id))
    session.exec(delete(PartRow).where(col(PartRow.audience_id) == audience.id))
    _forget_runs(session, audience)
    sketches.erase(session, audience.id)
    for group in groups_of(session, audience.id):
        group.people = None
        session.add(group)
    audience.state = "erased"
    session.add(audience)
    facts = {"audience_id": audience.id}
    append(session, "audience-erasure", facts, audience.auditor_id)


def _forget_runs(session: Session, audience: AudienceRow) -> None:
    """Drop whom each row of the upload found, and what was said in two-party runs about it."""
    session.exec(delete(OrderRow).where(col(OrderRow.audience_id) == audience.id))
    audits = select(AuditRow.id).where(AuditRow.audience_id == audience.id)
    session.exec(delete(MessageRow).where(col(MessageRow.audit_id).in_(audits)))
