"""Reconciliation, for an inspection on site: balances recomputed from audiences and the ledger.

Every balance must be the sum of the debits that erased audiences carried forward and of the charges
in the ledger that debit the person. None may be below zero or above the cap. The part of it from
samples and hidden audiences, which has a column of its own, must be the same sum over these. A
missing block counts as a block of zeros. The people of every charge must be those of its digest.
The stored minimum of each block must be that of its balances.

The result is for the platform and its inspector: it is never served.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session, col, select

from api.accounting.balance_blocks import COLUMNS, Blocks, list_block_numbers, load_stated_lowest
from api.accounting.charge import load_charged_people
from api.accounting.lifetime_caps import list_debited_columns
from api.accounting.memberships import (
    HIDDEN,
    can_displace_people,
    load_charged_members,
    load_membership,
)
from api.accounting.people_digest import BEFORE_0015, UnboundPeopleError
from api.db import AudienceRow, ChargeRow, EntryRow, PersonBlockRow, Store
from api.db.types import to_pico
from api.kernel.settings import Settings
from privacy.tables.membership import Membership, is_among

# Blocks of eight million people: they take 500 to 750 MB, and every audience is read once for each
# chunk.
AT_ONCE = 8_192


@dataclass(frozen=True)
class Inspection:
    """Number of people who have a balance, and of those with each fault.

    `unbound` is the number of charges whose people are not those of their digest; `misstated` is
    the number of blocks whose `lowest` is not their smallest balance.
    """

    people: int
    charges: int
    differing: int
    above_cap: int
    negative: int = 0
    unbound: int = 0
    misstated: int = 0

    @property
    def sound(self) -> bool:
        of_people = self.differing or self.above_cap or self.negative
        return not (of_people or self.unbound or self.misstated)


@dataclass(frozen=True)
class Charged:
    """A charge of the ledger that was not refunded."""

    audit_id: str
    audience: AudienceRow
    amount: int


def inspect(store: Store, cap: Fraction, settings: Settings | None = None) -> Inspection:
    """Recompute all balances; with the settings, which hold the key, also all digests."""
    with store.snapshot() as session:
        charges = list(_charges(session))
        there = _with_people(charges)
        numbers = load_block_numbers(session, there)
        found = np.zeros(5, np.int64)
        for start in range(0, len(numbers), AT_ONCE):
            blocks = Blocks.load(session, numbers[start : start + AT_ONCE])
            found += _counted(session, blocks, there, to_pico(cap))
        unbound = sum(not _is_bound(session, each, settings) for each in there) if settings else 0
    people, differing, above_cap, negative, misstated = found.tolist()
    return Inspection(people, len(charges), differing, above_cap, negative, unbound, misstated)


def load_standing_charges(session: Session) -> list[Charged]:
    """Return the charges that stand and whose people are known: their audience is not erased."""
    return _with_people(_charges(session))


def load_expected(
    session: Session, blocks: Blocks, charges: list[Charged]
) -> dict[str, NDArray[np.int64]]:
    """Return the expected balances of these blocks, by column."""
    sums = {"spent": blocks["carried"].copy(), "drawn": blocks["carried_drawn"].copy()}
    for charge in charges:
        positions = blocks.locate(_within(blocks, _charged(session, charge)))
        for column in list_debited_columns(drawn=can_displace_people(charge.audience)):
            sums[column][positions] += charge.amount
    return sums


def _counted(
    session: Session, blocks: Blocks, charges: list[Charged], cap: int
) -> NDArray[np.int64]:
    """Count the people with a balance, and those with a wrong, high or negative one.

    The last count is of blocks whose stored minimum is wrong.
    """
    sums, spent = load_expected(session, blocks, charges), blocks["spent"]
    differing = (spent != sums["spent"]) | (blocks["drawn"] != sums["drawn"])
    negative = np.minimum.reduce([blocks[column] for column in COLUMNS]) < 0
    misstated = blocks.least() != load_stated_lowest(session, blocks)
    counted = (spent, differing, spent > cap, negative, misstated)
    return np.array([np.count_nonzero(each) for each in counted])


def _is_bound(session: Session, charge: Charged, settings: Settings) -> bool:
    """Return whether the charge debits exactly the people to whom it is bound, if to any.

    A charge before migration 0015 is bound to nobody: nothing is read or refunded on it any more.
    """
    row = session.exec(select(ChargeRow).where(ChargeRow.audit_id == charge.audit_id)).one()
    if row.people_digest is None:
        return len(_charged(session, charge).everyone()) == 0
    if row.people_digest == BEFORE_0015:
        return True
    try:
        load_charged_people(session, row, charge.audience, settings)
    except UnboundPeopleError:
        return False
    return True


def _with_people(charges: Iterable[Charged]) -> list[Charged]:
    return [charge for charge in charges if charge.audience.state == "sealed"]


def _charged(session: Session, charge: Charged) -> Membership:
    """Return the people whom a charge debits."""
    return load_charged_members(session, charge.audit_id, charge.audience)[0]


def _within(blocks: Blocks, membership: Membership) -> NDArray[np.int64]:
    """Return the distinct people within these blocks."""
    groups = tuple(group[blocks.part(group)] for group in membership.groups)
    return Membership(groups, membership.groups_per_person).everyone()


def _charges(session: Session) -> Iterator[Charged]:
    """Yield the charges of the ledger that were not refunded."""
    refunded = {body["facts"]["audit_id"] for body in _bodies(session, "refund")}
    for body in _bodies(session, "charge"):
        if (audit_id := body["facts"]["audit_id"]) not in refunded:
            audience = session.get_one(AudienceRow, body["statement"]["body"]["audience_id"])
            rho = Fraction(body["facts"]["rho"]["change_one"])
            yield Charged(audit_id, audience, to_pico(rho))


def _bodies(session: Session, kind: str) -> Iterator[dict[str, Any]]:
    query = select(EntryRow.text).where(EntryRow.kind == kind).order_by(col(EntryRow.number))
    return map(json.loads, session.exec(query.execution_options(yield_per=1_000)))


def load_block_numbers(session: Session, charges: list[Charged]) -> NDArray[np.int64]:
    """Return the numbers of the existing blocks, and of those that should exist."""
    there = select(PersonBlockRow.number).order_by(col(PersonBlockRow.number))
    numbers = np.array(session.exec(there).all(), np.int64)
    # Each charge on a hidden audience has its own people; all charges on another audience have some
    # of the same.
    distinct = {_people_of(charge): charge for charge in charges}
    for charge in distinct.values():
        groups = _everybody(session, charge).groups
        mine = np.concatenate([list_block_numbers(group) for group in groups])
        if not (known := is_among(mine, numbers)).all():
            numbers = np.union1d(numbers, mine[~known])
    return numbers


def _people_of(charge: Charged) -> str:
    return charge.audit_id if charge.audience.source == HIDDEN else charge.audience.id


def _everybody(session: Session, charge: Charged) -> Membership:
    if charge.audience.source == HIDDEN:
        return _charged(session, charge)
    return load_membership(session, charge.audience).membership
