"""Erasure of the members of an audience. Commitment, charges, releases and balances stay."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from sqlmodel import Session, col, delete, select

from api.accounting import lifetime_caps
from api.accounting.memberships import (
    HIDDEN,
    can_displace_people,
    load_charged_members,
    load_membership,
)
from api.audiences import similarity_sketches
from api.audiences.uploads import has_pending_audit, load_groups
from api.db import (
    AudienceRow,
    AuditRow,
    ChargedPeopleRow,
    ChargeRow,
    ExclusionRow,
    MessageRow,
    OrderRow,
    PartRow,
)
from api.db.types import to_pico
from api.kernel.errors import ConflictError
from api.ledger import append, lock


def erase(session: Session, audience: AudienceRow) -> None:
    """Erase the members; carry their debits forward, so that balances still add up.

    The ledger is locked before any audience: everything that takes both takes them in this order.
    """
    if audience.state == "erased":
        return
    lock(session)
    if has_pending_audit(session, audience.id):
        raise ConflictError(
            "An audit of this audience has not finished. Cancel it, or wait until it is final.",
            case="audit-not-finished",
        )
    _carry(session, audience)
    session.exec(delete(PartRow).where(col(PartRow.audience_id) == audience.id))
    _forget_runs(session, audience)
    similarity_sketches.erase_sketch(session, audience.id)
    for group in load_groups(session, audience.id):
        group.people = None
        session.add(group)
    audience.state = "erased"
    session.add(audience)
    facts = {"audience_id": audience.id}
    append(session, "audience-erasure", facts, audience.auditor_id)


def _carry(session: Session, audience: AudienceRow) -> None:
    """Add up each person's debits of all charges that stand, and carry the sum forward."""
    standing = ChargeRow.audience_id == audience.id, col(ChargeRow.refunded_at).is_(None)
    charges = session.exec(select(ChargeRow).where(*standing))
    costs = {charge.audit_id: charge.rho for charge in charges}
    if not costs:
        return
    found = load_membership(session, audience)
    if audience.source == HIDDEN:
        _carry_recorded(session, audience, costs, found.uploaded)
        return
    borne = lifetime_caps.load_spent(session, costs, found.labels, found.membership)
    lifetime_caps.carry_over(
        session, found.membership, borne, found.uploaded, drawn=can_displace_people(audience)
    )


def _carry_recorded(
    session: Session, audience: AudienceRow, costs: Mapping[str, Fraction], rows: int
) -> None:
    """Carry forward the debit of each charge on a hidden audience, for the people it recorded."""
    for audit_id, cost in costs.items():
        people, _ = load_charged_members(session, audit_id, audience)
        amounts = [np.full(len(group), to_pico(cost), np.int64) for group in people.groups]
        lifetime_caps.carry_over(session, people, amounts, rows, drawn=True)


def _forget_runs(session: Session, audience: AudienceRow) -> None:
    """Delete the people of uploaded rows, the exclusions, and two-party messages."""
    session.exec(delete(OrderRow).where(col(OrderRow.audience_id) == audience.id))
    audits = select(AuditRow.id).where(AuditRow.audience_id == audience.id)
    session.exec(delete(ExclusionRow).where(col(ExclusionRow.audit_id).in_(audits)))
    session.exec(delete(ChargedPeopleRow).where(col(ChargedPeopleRow.audit_id).in_(audits)))
    session.exec(delete(MessageRow).where(col(MessageRow.audit_id).in_(audits)))
