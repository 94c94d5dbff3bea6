"""What each person has borne, over all auditors, for ever: a filter that leaves out the exhausted.

Every person has a lifetime cap in rho that never renews. At submission, whoever the audit would
take beyond the cap is left out of it, and everybody else is charged; nothing of this is visible
(R2). Whether a person is left out depends on that person's own history alone, so the filter is
sound under adaptive composition: see docs/guarantee.md.

Balances are exact integers in blocks of neighbouring person numbers (`api.blocks`): a platform of a
million people has a thousand rows, and an audience of a hundred touches a hundred. They live in the
platform's own tables and never enter the ledger. Only the holder of the books' lock may change
them.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from api.blocks import Balances, Blocks, among_others, numbers_of
from api.store import ExclusionRow, find_all
from api.store.types import to_pico
from privacy.membership import Membership


def charge(
    session: Session,
    membership: Membership,
    cost: Fraction,
    cap: Fraction,
    uploaded: int = 0,
    *,
    drawn: bool = False,
) -> list[NDArray[np.bool_] | None]:
    """Charge everybody who can bear the cost; for each group, who could, or None for all.

    As many blocks are rewritten as identifiers were uploaded, as far as there are any: others
    than theirs unchanged, so that the time it takes does not tell how many were found. `drawn`:
    the platform drew these people as a sample.
    """
    room = to_pico(cap) - to_pico(cost)
    columns = paid(drawn=drawn)
    able = _moved(session, membership, columns, to_pico(cost), uploaded, room)
    return [None if mask.all() else mask for mask in able]


def refund(
    session: Session,
    membership: Membership,
    cost: Fraction,
    uploaded: int = 0,
    *,
    drawn: bool = False,
) -> None:
    """Give the cost back to everybody who was charged it."""
    _moved(session, membership, paid(drawn=drawn), -to_pico(cost), uploaded)


def carry(
    session: Session,
    membership: Membership,
    amounts: Sequence[Balances],
    uploaded: int = 0,
    *,
    drawn: bool = False,
) -> None:
    """Remember what an audience bore, before its members are erased, so that sums still check.

    `amounts` are those of `borne`. As many blocks are rewritten as by a charge.
    """
    columns = ("carried", "carried_drawn") if drawn else ("carried",)
    _moved(session, membership, columns, amounts, uploaded)


def paid(*, drawn: bool) -> tuple[str, ...]:
    """Where a charge is written: what the platform drew is kept apart as well."""
    return ("spent", "drawn") if drawn else ("spent",)


def exclude(
    session: Session, audit_id: str, labels: list[str], able: list[NDArray[np.bool_] | None]
) -> None:
    """Write down who is left out of an audit, for its worker."""
    session.add_all(
        ExclusionRow(audit_id=audit_id, label=label, able=np.packbits(mask).tobytes())
        for label, mask in zip(labels, able, strict=True)
        if mask is not None
    )


def included(
    session: Session, audit_id: str, labels: list[str], membership: Membership
) -> Membership:
    """The people of an audience who bear this audit."""
    masks = {row.label: row.able for row in find_all(session, ExclusionRow, audit_id=audit_id)}
    if not masks:
        return membership
    groups = (
        group[_mask(masks[label], len(group))] if label in masks else group
        for label, group in zip(labels, membership.groups, strict=True)
    )
    return Membership(tuple(groups), membership.groups_per_person)


def borne(
    session: Session, costs: Mapping[str, Fraction], labels: list[str], membership: Membership
) -> list[Balances]:
    """For each group, what each of its people bore of these audits together.

    That is what all of them cost, less those that a person was left out of.
    """
    units = {audit_id: to_pico(cost) for audit_id, cost in costs.items()}
    amounts = [np.full(len(group), sum(units.values()), np.int64) for group in membership.groups]
    for audit_id, cost in units.items():
        for row in find_all(session, ExclusionRow, audit_id=audit_id):
            amount = amounts[labels.index(row.label)]
            amount[~_mask(row.able, len(amount))] -= cost
    return amounts


def _mask(able: bytes, people: int) -> NDArray[np.bool_]:
    return np.unpackbits(np.frombuffer(able, np.uint8), count=people).astype(bool)


def _moved(
    session: Session,
    membership: Membership,
    columns: Sequence[str],
    amount: int | Sequence[Balances],
    uploaded: int = 0,
    room: int | None = None,
) -> list[NDArray[np.bool_]]:
    """Add to the columns of everybody with room for it; who they are.

    An amount is the same for all, or each person's own, by group: then it is the same in each of
    somebody's groups.
    Some blocks at a time, which is sound: whether somebody has room is decided for each alone.
    """
    able = [np.empty(len(group), np.bool_) for group in membership.groups]
    groups = [numbers_of(group) for group in membership.groups]
    mine = np.unique(np.concatenate([*groups, np.empty(0, np.int64)]))
    numbers = among_others(session, mine, uploaded)
    for blocks in Blocks.in_turn(session, numbers, columns, made=mine):
        parts = [blocks.part(group) for group in membership.groups]
        here = [group[part] for group, part in zip(membership.groups, parts, strict=True)]
        bearing = blocks.add(blocks.place(np.concatenate(here)), _within(amount, parts), room)
        blocks.save(session)
        ends = np.cumsum([len(persons) for persons in here])
        for mask, part, some in zip(able, parts, np.split(bearing, ends[:-1]), strict=True):
            mask[part] = some
    return able


def _within(amount: int | Sequence[Balances], parts: list[slice]) -> int | Balances:
    """What is added in a part of each group."""
    if isinstance(amount, int):
        return amount
    return np.concatenate([each[part] for each, part in zip(amount, parts, strict=True)])
