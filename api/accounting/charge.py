"""Charge of audits: one transaction debits all limits, or none of them (R3).

The limits are those of the mandate (per auditor), the platform's account (per window), and every
person's lifetime balance (over all auditors). The mandate also limits people's losses. The charge's
row holds a keyed digest of the people who are debited: nobody else is read or refunded on it (R4).
Nobody of a hidden audience is known at the charge: a run records them (`record_people`) before it
reads. The newest row of the ledger is locked first. So charges happen one after the other, and the
ledger's time never runs backwards, whatever the clocks do.

Nothing here commits. `api.audits.submission` calls `charge` in its transaction and commits it.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from sqlmodel import Session, col, delete

from api import ledger
from api.accounting import lifetime_caps, platform_budget
from api.accounting.lifetime_caps import LifetimeDebit
from api.accounting.memberships import (
    HIDDEN,
    can_displace_people,
    load_charged_members,
    load_memberships,
)
from api.accounting.people_digest import UnboundPeopleError, is_bound, people_digest
from api.accounting.prices import exact_price, stated_parts
from api.db import (
    AudienceRow,
    AuditRow,
    ChargedPeopleRow,
    ChargeRow,
    MandateRow,
    insert,
)
from api.db.types import as_decimal
from api.kernel.errors import AboveLifetimeCapError
from api.kernel.ids import new_id
from api.kernel.settings import Settings
from api.mandates import budgets
from api.mandates.budgets import Debit
from openapi.resources import Price
from privacy.errors import BoundsError
from privacy.ledger.entries import FORMAT as LEDGER_FORMAT
from privacy.ledger.statements import Statement
from privacy.tables.membership import Membership, Persons
from privacy.tables.price import ADD_REMOVE, ExactPrice

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChargeOrder:
    """Order to charge an audit: its mandate, its audience, its price and the signed statement."""

    audit: AuditRow
    mandate: MandateRow
    audience: AudienceRow
    digests: Sequence[str]  # of the contents
    price: Price
    statement: Statement

    @cached_property
    def exact(self) -> ExactPrice:
        return exact_price(self.price)

    @property
    def debit(self) -> Fraction:
        """Return the debit of the mandate, in its currency."""
        return Fraction(self.exact.debit(self.mandate.currency))

    @property
    def loss(self) -> Fraction:
        """Return the loss that people may have by the audit."""
        return self.exact.exploration_loss

    @property
    def rho(self) -> Fraction:
        """Return the debit of the platform's account, and of each person within the cap."""
        return Fraction(self.exact.debit("rho"))


def charge(
    session: Session, at: datetime, bills: Sequence[ChargeOrder], settings: Settings
) -> None:
    """Debit all limits and write the charges, or refuse; drop people above their cap.

    `at` is the time from `ledger.lock`, so the ledger is locked. Each order has a mandate of its
    own, and its audit is already written.
    """
    # Without this the lifetime cap would not hold under change-one: see
    # docs/explanation/guarantee.md.
    if any(2 * bill.exact.amount("rho", ADD_REMOVE) > bill.rho for bill in bills):
        raise BoundsError("a release must cost twice as much rho under change-one")
    budgets.debit(session, [Debit(bill.mandate, bill.debit, bill.loss) for bill in bills], at)
    platform_budget.debit(session, at, sum((bill.rho for bill in bills), Fraction(0)), settings)
    people = [(bill.audit, bill.audience, bill.rho) for bill in bills]
    digests = charge_people(session, people, settings)
    rows = [_row(bill, at, digest) for bill, digest in zip(bills, digests, strict=True)]
    insert(session, *rows)
    drafts = [
        ledger.Draft("charge", _facts(row, bill), row.auditor_id, bill.statement)
        for row, bill in zip(rows, bills, strict=True)
    ]
    ledger.append_all(session, drafts, at=at)


def refuse_above_lifetime_cap(price: Price, settings: Settings, request: Any = None) -> None:
    """Refuse a price above the lifetime cap.

    It would drop everybody, and still debit the mandate.

    The price and the cap are public, so the refusal reveals nothing about anyone.
    """
    cost, cap = price.rho.change_one, settings.person_lifetime_rho
    if cost > cap:
        raise AboveLifetimeCapError(
            f"The audit costs each person {cost} of ρ. The lifetime cap of a person is {cap}."
            f" Nothing was charged. {_admissible(request, Fraction(cap) / Fraction(cost))}",
            asked=str(cost),
            cap=str(cap),
        )


def _admissible(request: Any, share: Fraction) -> str:
    """Return advice on the parameter to request, given the share of this ρ that is allowed."""
    rho, epsilon = getattr(request, "rho", None), getattr(request, "epsilon", None)
    if rho is not None:
        return f"Request a ρ of at most about {math.floor(1000 * share * Fraction(rho)) / 1000:g}."
    if epsilon is None:
        return "Request less."
    # The ρ of a release grows with the square of its ε.
    most = math.floor(100 * math.sqrt(share) * float(epsilon)) / 100
    return (
        f"ε = {epsilon} is too large. Request an ε of about {most:g}, and reduce every other"
        " ε in the same proportion."
    )


def refund(session: Session, at: datetime, row: ChargeRow, settings: Settings) -> None:
    """Undo a charge on which nothing was read: refund every limit that it debited.

    The people that it recorded are deleted: the database refuses a refund that leaves them.
    """
    budgets.refund(session, row)
    platform_budget.refund(session, row.charged_at, row.rho)
    _refund_people(session, row, settings)
    session.exec(delete(ChargedPeopleRow).where(col(ChargedPeopleRow.audit_id) == row.audit_id))
    row.refunded_at = at
    session.add(row)
    facts = {
        "charge_id": row.id,
        "audit_id": row.audit_id,
        "currency": row.currency,
        "debit": str(as_decimal(row.debit)),
        **_exploration(row),
    }
    ledger.append(session, "refund", facts, row.auditor_id, at=at)


def _refund_people(session: Session, row: ChargeRow, settings: Settings) -> None:
    """Refund exactly the people whom the charge debits: nobody if it has recorded none."""
    audience = session.get_one(AudienceRow, row.audience_id)
    if row.people_digest is None:
        return
    try:
        people, uploaded = load_charged_people(session, row, audience, settings)
    except UnboundPeopleError:
        # Balances stay as they are, which is never too low. `persons verify` reports it.
        log.exception("charge.unbound", extra={"audit": row.audit_id})
        return
    lifetime_caps.refund(
        session, LifetimeDebit(people, row.rho, uploaded, drawn=can_displace_people(audience))
    )


def load_charged_people(
    session: Session, row: ChargeRow, audience: AudienceRow, settings: Settings
) -> tuple[Membership, int]:
    """Return the people whom a charge debits, and the number of identifiers in the upload.

    Raise `UnboundPeopleError` if they are not those of its digest, or if it has none.
    """
    people, uploaded = load_charged_members(session, row.audit_id, audience)
    if not is_bound(row.people_digest, row.audit_id, people, uploaded, settings):
        raise UnboundPeopleError
    return people, uploaded


def charge_people(
    session: Session,
    audits: Sequence[tuple[AuditRow, AudienceRow, Fraction]],
    settings: Settings,
) -> list[bytes | None]:
    """Debit everybody in these audits' audiences who is within the cap; record who is not.

    Return the digest of the people whom each audit debits. Nobody of a hidden audience is known
    yet: none of them is debited, and there is no digest.
    """
    known = [each for each in audits if each[1].source != HIDDEN]
    everybody = load_memberships(session, [audience for _, audience, _ in known]) if known else []
    burdens = [
        LifetimeDebit(found.membership, rho, found.uploaded, drawn=can_displace_people(audience))
        for (_, audience, rho), found in zip(known, everybody, strict=True)
    ]
    able = _debited(session, burdens, settings)
    digests = dict[str, bytes]()
    for (audit, _, _), found, masks in zip(known, everybody, able, strict=True):
        lifetime_caps.record_exclusions(session, audit.id, found.labels, masks)
        debited = lifetime_caps.within_cap(found.membership, masks)
        digests[audit.id] = people_digest(audit.id, debited, found.uploaded, settings)
    return [digests.get(audit.id) for audit, _, _ in audits]


def record_people(
    session: Session, row: ChargeRow, audience: AudienceRow, found: Persons, settings: Settings
) -> None:
    """Debit the people whom a run found in a hidden audience, and bind the charge to them.

    Drop those above the cap. The people of an earlier run get their debit back: the caller holds
    the ledger lock and knows that nothing was read on this charge.
    """
    _refund_people(session, row, settings)
    _, rows = load_charged_members(session, row.audit_id, audience)
    everybody = Membership((np.unique(found[found >= 0]),), 1)
    [masks] = _debited(session, [LifetimeDebit(everybody, row.rho, rows, drawn=True)], settings)
    people = lifetime_caps.within_cap(everybody, masks)
    [debited] = people.groups
    recorded = session.get(ChargedPeopleRow, row.audit_id)
    recorded = recorded or ChargedPeopleRow(audit_id=row.audit_id, people=b"")
    recorded.people = debited.astype("<i8", copy=False).tobytes()
    row.people_digest = people_digest(row.audit_id, people, rows, settings)
    session.add_all([recorded, row])
    session.flush()


def _debited(
    session: Session, burdens: Sequence[LifetimeDebit], settings: Settings
) -> list[list[Any]]:
    if not burdens:
        return []
    return lifetime_caps.charge(session, burdens, Fraction(settings.person_lifetime_rho))


def _row(bill: ChargeOrder, at: datetime, digest: bytes | None) -> ChargeRow:
    audit, mandate = bill.audit, bill.mandate
    return ChargeRow(
        id=new_id("charge"),
        audit_id=audit.id,
        auditor_id=audit.auditor_id,
        researcher_id=audit.researcher_id,
        mandate_id=mandate.id,
        audience_id=bill.audience.id,
        audience_commitment=bill.audience.commitment or "",
        content_digests=list(bill.digests),
        kind=audit.kind,
        price=audit.price,
        currency=mandate.currency,
        debit=bill.debit,
        period=mandate.period,
        rho=bill.rho,
        exploration_loss=bill.loss,
        people_digest=digest,
        charged_at=at,
    )


def _facts(row: ChargeRow, bill: ChargeOrder) -> dict[str, object]:
    price = bill.price
    return {
        "format": LEDGER_FORMAT,
        "charge_id": row.id,
        "audit_id": row.audit_id,
        "mandate_id": row.mandate_id,
        "audience_commitment": row.audience_commitment,
        "content_digests": row.content_digests,
        "epsilon": price.epsilon.model_dump(mode="json") if price.epsilon else None,
        "rho": price.rho.model_dump(mode="json"),
        "currency": row.currency,
        "debit": str(as_decimal(row.debit)),
        "parts": stated_parts(price),
        "request": bill.audit.request,
        **_exploration(row),
        **({"assumes": price.assumes} if price.assumes else {}),
    }


def _exploration(row: ChargeRow) -> dict[str, object]:
    """Return the exploration loss of a charge, if it has one."""
    if not row.exploration_loss:
        return {}
    return {"exploration_loss": str(as_decimal(row.exploration_loss))}
