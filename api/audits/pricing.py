"""Prices as auditors see them before they pay."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from api.accounting.memberships import can_displace_people, group_order
from api.audiences.uploads import SIZES
from api.db import AudienceRow, AuditRow, GroupRow
from api.db.types import as_decimal
from api.kinds.registry import AudienceFacts
from openapi.resources import Assumption, BothRelations, Currency, Price, PricePart
from privacy import waist
from privacy.tables.bounded_table import Bounds
from privacy.tables.declared import declared_numbers
from privacy.tables.mechanism_prices import currency_of, exact_scale
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, INFINITE, ExactPrice
from privacy.tables.sensitivity import Reach

_SIZES = select(*SIZES).where(col(GroupRow.audience_id) == bindparam("audience"))


def load_audience_facts(session: Session, audience: AudienceRow) -> AudienceFacts:
    """Return the public facts of the audience."""
    rows = session.connection().execute(_SIZES, {"audience": audience.id}).all()
    return audience_facts(session, audience, rows)


def audience_facts(session: Session, audience: AudienceRow, rows: Sequence[Any]) -> AudienceFacts:
    """Return the facts of the audience from rows of its groups: label, members and known size."""
    groups = sorted(rows, key=lambda row: group_order(row.label))
    sizes = tuple(group.known_size for group in groups if group.known_size is not None)
    return AudienceFacts(
        labels=tuple(group.label for group in groups),
        groups_per_person=min(audience.groups_per_person, len(groups)),
        fixed_slots=can_displace_people(audience),
        source=audience.source_for_kinds,
        known_sizes=sizes if len(sizes) == len(groups) else None,
        members=sum(group.members for group in groups),
        consented=audience.consented,
        ordered=audience.ordered,
        candidates=audience.candidates,
        taken=has_running_audit(session, audience),
    )


def has_running_audit(session: Session, audience: AudienceRow) -> bool:
    """Return whether an audit already uses this hidden audience.

    A hidden audience can be used once, because the people that a run finds are recorded once.
    """
    if audience.source != "hidden":
        return False
    mine = AuditRow.audience_id == audience.id, AuditRow.state != "cancelled"
    return session.exec(select(AuditRow.id).where(*mine)).first() is not None


def price_plan(
    plan: waist.ReleasePlan,
    currency: Currency,
    exploration_loss: Decimal = Decimal(0),
    assumes: tuple[Assumption, ...] = (),
) -> Price:
    """Return the price of a plan, with the expected error of each of its tables."""
    return _price_of(tuple(plan.items()), currency, exploration_loss, assumes)


# The same price is computed repeatedly: for each quote, and before the charge.
@lru_cache(maxsize=1_024)
def _price_of(
    mechanisms: tuple[tuple[str, waist.Mechanism], ...],
    currency: Currency,
    exploration_loss: Decimal,
    assumes: tuple[Assumption, ...],
) -> Price:
    exact = waist.price(dict(mechanisms))
    parts = [_part(name, mechanism) for name, mechanism in mechanisms]
    return Price(
        epsilon=_relations(exact, "epsilon"),
        rho=BothRelations(**_both(exact, "rho")),
        currency=currency,
        debit=as_decimal(exact.debit(currency)),
        exploration_loss=as_decimal(Fraction(exploration_loss)),
        assumes=list(assumes),
        parts=parts,
    )


def require_currency(price: Price, currency: Currency) -> Price:
    """Return the same price in the currency of a mandate.

    Raise `ValueError` if it has no price in that currency.
    """
    both = price.epsilon if currency == "epsilon" else price.rho
    if both is None:
        raise ValueError(f"The request has no price in {currency}.")
    return price.model_copy(update={"currency": currency, "debit": both.change_one})


def _part(name: str, mechanism: waist.Mechanism) -> PricePart:
    bounds, parameter = mechanism.bounds, mechanism.parameter
    return PricePart.model_validate(
        {
            "name": name,
            "mechanism": mechanism.name,
            "bounds": _declared(bounds),
            "sensitivity": {
                "add_remove": _norms(bounds.added),
                "change_one": _norms(bounds.changed),
            },
            "scale": exact_scale(mechanism.name, bounds.shape, bounds.added, parameter),
            "parameter": {
                "currency": currency_of(mechanism.name),
                "amount": as_decimal(parameter),
            },
            "epsilon": _relations(mechanism.price, "epsilon"),
            "rho": _both(mechanism.price, "rho"),
            "standard_deviation": mechanism.standard_deviation,
            "error_95": mechanism.error(0.05),
        }
    )


def _declared(bounds: Bounds) -> dict[str, Any]:
    rule = bounds.rule
    return {"rule": rule.name, "shape": bounds.shape, "declared": declared_numbers(rule)}


def _norms(reach: Reach) -> dict[str, str]:
    return {"l1": str(reach.l1), "l2_squared": str(reach.l2_squared), "linf": str(reach.linf)}


def _relations(price: ExactPrice, currency: Currency) -> BothRelations | None:
    if price.debit(currency) == INFINITE:
        return None
    return BothRelations(**_both(price, currency))


def _both(price: ExactPrice, currency: Currency) -> dict[str, Decimal]:
    return {
        "add_remove": as_decimal(price.amount(currency, ADD_REMOVE)),
        "change_one": as_decimal(price.amount(currency, CHANGE_ONE)),
    }
