"""For an inspection on site: what people have borne, recomputed from audiences and the ledger.

Every balance must be what erased audiences carried forward plus the charges of the ledger on the
sealed audiences a person is in, and none may be above the cap. The part of it that samples bore,
which is kept apart, must be the same sum over samples. A block that is missing is one of nothing.
The outcome is for the platform and the inspector beside it: it is never served.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session, col, select

from api.audiences.sealing import reached
from api.blocks import Blocks, numbers_of
from api.charging import bearers
from api.persons import paid
from api.store import AudienceRow, EntryRow, PersonBlockRow, Store
from api.store.types import to_pico
from privacy.membership import Membership, among

# Blocks of eight million people: 400 to 600 MB are held, and every audience is read once for each.
AT_ONCE = 8_192


@dataclass(frozen=True)
class Inspection:
    """How many people have a balance, and what is wrong with how many of them."""

    people: int
    charges: int
    differing: int
    above_cap: int

    @property
    def sound(self) -> bool:
        return self.differing == 0 and self.above_cap == 0


@dataclass(frozen=True)
class _Charge:
    audit_id: str
    audience: AudienceRow
    amount: int


def inspect(store: Store, cap: Fraction) -> Inspection:
    with store.snapshot() as session:
        charges = list(_charges(session))
        there = [charge for charge in charges if charge.audience.state == "sealed"]
        numbers = _numbers(session, there)
        found = np.zeros(3, np.int64)
        for start in range(0, len(numbers), AT_ONCE):
            blocks = Blocks.load(session, numbers[start : start + AT_ONCE])
            found += _counted(session, blocks, there, to_pico(cap))
    people, differing, above_cap = found.tolist()
    return Inspection(people, len(charges), differing, above_cap)


def _counted(
    session: Session, blocks: Blocks, charges: list[_Charge], cap: int
) -> NDArray[np.int64]:
    """Of the people of some blocks: who have a balance, whose is another one, whose is too high."""
    expected = {"spent": blocks["carried"], "drawn": blocks["carried_drawn"]}
    for charge in charges:
        place = blocks.place(_within(blocks, bearers(session, charge.audit_id, charge.audience)))
        for column in paid(drawn=charge.audience.source == "sample"):
            expected[column][place] += charge.amount
    spent = blocks["spent"]
    differing = (spent != expected["spent"]) | (blocks["drawn"] != expected["drawn"])
    return np.array([np.count_nonzero(each) for each in (spent, differing, spent > cap)])


def _within(blocks: Blocks, membership: Membership) -> NDArray[np.int64]:
    """Everybody, each once, from the first block to the last."""
    groups = tuple(group[blocks.part(group)] for group in membership.groups)
    return Membership(groups, membership.groups_per_person).everyone()


def _charges(session: Session) -> Iterator[_Charge]:
    """The charges of the ledger that were not refunded."""
    refunded = {body["facts"]["audit_id"] for body in _bodies(session, "refund")}
    for body in _bodies(session, "charge"):
        if (audit_id := body["facts"]["audit_id"]) not in refunded:
            audience = session.get_one(AudienceRow, body["statement"]["body"]["audience_id"])
            rho = Fraction(body["facts"]["rho"]["change_one"])
            yield _Charge(audit_id, audience, to_pico(rho))


def _bodies(session: Session, kind: str) -> Iterator[dict[str, Any]]:
    query = select(EntryRow.text).where(EntryRow.kind == kind).order_by(col(EntryRow.number))
    return map(json.loads, session.exec(query.execution_options(yield_per=1_000)))


def _numbers(session: Session, charges: list[_Charge]) -> NDArray[np.int64]:
    """The blocks that there are, and those that there should be."""
    there = select(PersonBlockRow.number).order_by(col(PersonBlockRow.number))
    numbers = np.array(session.exec(there).all(), np.int64)
    for audience in {charge.audience.id: charge.audience for charge in charges}.values():
        groups = reached(session, audience).membership.groups
        mine = np.concatenate([numbers_of(group) for group in groups])
        if not (known := among(mine, numbers)).all():
            numbers = np.union1d(numbers, mine[~known])
    return numbers
