"""Lifetime caps: a filter that drops people above their cap, which covers all auditors.

Every person has a lifetime cap in rho that never renews. At submission, people whom the audit would
take beyond the cap are dropped from it, and everybody else is debited; nothing of this is visible
(R2). Whether a person is dropped depends on that person's own history alone, so the filter is sound
under adaptive composition: see docs/explanation/guarantee.md.

Balances are exact integers in blocks of neighbouring person numbers
(`api.accounting.balance_blocks`). A platform of a million people has a thousand rows, and an
audience of a hundred touches a hundred. The blocks are in the platform's own tables and never enter
the ledger. Only the holder of the ledger lock may change them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from api.accounting.balance_blocks import Balances, Blocks, list_block_numbers, padded_block_numbers
from api.db import ExclusionRow, find_all
from api.db.types import to_pico
from privacy.tables.membership import Membership, Persons


@dataclass(frozen=True)
class LifetimeDebit:
    """Debit of the people of an audience: each of them pays the cost.

    `uploaded` is the number of identifiers in the upload.

    `drawn`: whether these people displace each other, as in a sample or a hidden audience.
    """

    membership: Membership
    cost: Fraction
    uploaded: int = 0
    drawn: bool = False


def charge(
    session: Session, burdens: Sequence[LifetimeDebit], cap: Fraction
) -> list[list[NDArray[np.bool_] | None]]:
    """Debit everybody within the cap, one debit after the other; return masks of those people.

    There is one mask per group of each debit, or None if it includes all.

    The number of blocks written is the number of identifiers uploaded, or all blocks if there are
    fewer. Blocks of other people are written unchanged, so the time does not tell how many people
    were found.
    """
    moves = [_new_move(burden, to_pico(burden.cost), to_pico(cap)) for burden in burdens]
    return [
        [None if mask.all() else mask for mask in masks] for masks in _apply_moves(session, moves)
    ]


def refund(session: Session, burden: LifetimeDebit) -> None:
    """Return the cost to everybody who was debited it."""
    _apply_moves(session, [_new_move(burden, -to_pico(burden.cost))])


def carry_over(
    session: Session,
    membership: Membership,
    amounts: Sequence[Balances],
    uploaded: int = 0,
    *,
    drawn: bool = False,
) -> None:
    """Record the debits of an audience before its members are erased, so that sums still match.

    `amounts` are those of `load_spent`. As many blocks are written as by a charge.
    """
    columns = ("carried", "carried_drawn") if drawn else ("carried",)
    _apply_moves(session, [_Move(membership, columns, amounts, uploaded)])


def list_debited_columns(*, drawn: bool) -> tuple[str, ...]:
    """Return the columns that a charge debits.

    Debits of drawn people have a column of their own too.
    """
    return ("spent", "drawn") if drawn else ("spent",)


def record_exclusions(
    session: Session, audit_id: str, labels: list[str], able: list[NDArray[np.bool_] | None]
) -> None:
    """Record for the worker who is dropped from an audit."""
    session.add_all(
        ExclusionRow(audit_id=audit_id, label=label, able=np.packbits(mask).tobytes())
        for label, mask in zip(labels, able, strict=True)
        if mask is not None
    )


def encode_people_within_cap(people: bytes, those: bytes | None) -> Persons:
    """Return the stored people of a group, without those whom an audit drops."""
    group = np.frombuffer(people, "<i8")
    return group if those is None else group[_mask(those, len(group))]


def within_cap(membership: Membership, masks: Sequence[NDArray[np.bool_] | None]) -> Membership:
    """Return the people who were debited, given the masks of `charge`."""
    groups = tuple(
        group if mask is None else group[mask]
        for group, mask in zip(membership.groups, masks, strict=True)
    )
    return Membership(groups, membership.groups_per_person)


def load_spent(
    session: Session, costs: Mapping[str, Fraction], labels: list[str], membership: Membership
) -> list[Balances]:
    """Return, for each group, the total that each person was debited for these audits.

    That is the cost of all audits, minus those from which the person was dropped.
    """
    units = {audit_id: to_pico(cost) for audit_id, cost in costs.items()}
    amounts = [np.full(len(group), sum(units.values()), np.int64) for group in membership.groups]
    for audit_id, cost in units.items():
        for row in find_all(session, ExclusionRow, audit_id=audit_id):
            amount = amounts[labels.index(row.label)]
            amount[~_mask(row.able, len(amount))] -= cost
    return amounts


@dataclass(frozen=True)
class _Move:
    """Change of these columns, for everybody or for the people within the cap.

    The amount is one number for all, or one per person and group. A person in several groups has
    the same amount in each.
    """

    membership: Membership
    columns: tuple[str, ...]
    amount: int | Sequence[Balances]
    uploaded: int
    room: int | None = None

    @property
    def groups(self) -> tuple[Persons, ...]:
        return self.membership.groups

    def within(self, parts: list[slice]) -> int | Balances:
        """Return the amount to add in a part of each group."""
        if isinstance(self.amount, int):
            return self.amount
        return np.concatenate([each[part] for each, part in zip(self.amount, parts, strict=True)])


def _new_move(burden: LifetimeDebit, amount: int, cap: int | None = None) -> _Move:
    room = None if cap is None else cap - amount
    return _Move(
        burden.membership, list_debited_columns(drawn=burden.drawn), amount, burden.uploaded, room
    )


def _mask(able: bytes, people: int) -> NDArray[np.bool_]:
    return np.unpackbits(np.frombuffer(able, np.uint8), count=people).astype(bool)


def _apply_moves(session: Session, moves: Sequence[_Move]) -> list[list[NDArray[np.bool_]]]:
    """Apply these changes in order; return, for each group of each, who was within the cap.

    Blocks are processed in chunks. This is sound, because each person is decided alone.
    """
    able = [[np.empty(len(group), np.bool_) for group in move.groups] for move in moves]
    numbers = [list_block_numbers(group) for move in moves for group in move.groups]
    mine = np.unique(np.concatenate([*numbers, np.empty(0, np.int64)]))
    rewritten = padded_block_numbers(session, mine, sum(move.uploaded for move in moves))
    columns = tuple(dict.fromkeys(["spent", *(name for move in moves for name in move.columns)]))
    for blocks in Blocks.chunks(session, rewritten, columns, made=mine):
        for move, masks in zip(moves, able, strict=True):
            _apply_to_blocks(blocks, move, masks)
        blocks.save(session)
    return able


def _apply_to_blocks(blocks: Blocks, move: _Move, able: list[NDArray[np.bool_]]) -> None:
    """Add to the balances in these blocks, and record in `able` who was debited."""
    parts = [blocks.part(group) for group in move.groups]
    here = [group[part] for group, part in zip(move.groups, parts, strict=True)]
    positions, amount = blocks.locate(np.concatenate(here)), move.within(parts)
    bearing = blocks.add(positions, move.columns, amount, move.room)
    ends = np.cumsum([len(persons) for persons in here])
    for mask, part, some in zip(able, parts, np.split(bearing, ends[:-1]), strict=True):
        mask[part] = some
