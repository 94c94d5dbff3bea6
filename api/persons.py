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

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from api.blocks import Blocks, among_others, numbers_of
from api.store import ExclusionRow, find_all
from api.store.types import to_pico
from privacy.membership import Membership, Persons


@dataclass(frozen=True)
class Burden:
    """What people are to bear: each of them the cost. So many identifiers were uploaded.

    `drawn`: the platform drew these people as a sample.
    """

    membership: Membership
    cost: Fraction
    uploaded: int = 0
    drawn: bool = False


def charge(
    session: Session, burdens: Sequence[Burden], cap: Fraction
) -> list[list[NDArray[np.bool_] | None]]:
    """Charge everybody who can bear it, one burden after the other; for each group of each, who
    could, or None for all.

    As many blocks are rewritten as identifiers were uploaded, as far as there are any: others
    than theirs unchanged, so that the time it takes does not tell how many were found.
    """
    rooms = [to_pico(cap) - to_pico(burden.cost) for burden in burdens]
    moves = [
        _Move(burden, paid(drawn=burden.drawn), to_pico(burden.cost), room)
        for burden, room in zip(burdens, rooms, strict=True)
    ]
    return [[None if mask.all() else mask for mask in masks] for masks in _moved(session, moves)]


def refund(session: Session, burden: Burden) -> None:
    """Give the cost back to everybody who was charged it."""
    _moved(session, [_Move(burden, paid(drawn=burden.drawn), -to_pico(burden.cost))])


def carry(session: Session, burden: Burden) -> None:
    """Remember what an audience bore, before its members are erased, so that sums still check."""
    columns = ("carried", "carried_drawn") if burden.drawn else ("carried",)
    _moved(session, [_Move(burden, columns, to_pico(burden.cost))])


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
    rows = find_all(session, ExclusionRow, audit_id=audit_id)
    masks = {row.label: np.frombuffer(row.able, np.uint8) for row in rows}
    if not masks:
        return membership
    groups = (
        group[np.unpackbits(masks[label], count=len(group)).astype(bool)]
        if label in masks
        else group
        for label, group in zip(labels, membership.groups, strict=True)
    )
    return Membership(tuple(groups), membership.groups_per_person)


@dataclass(frozen=True)
class _Move:
    """The amount to add to these columns of everybody, or of those with room for it."""

    burden: Burden
    columns: tuple[str, ...]
    amount: int
    room: int | None = None

    @property
    def groups(self) -> tuple[Persons, ...]:
        return self.burden.membership.groups


def _moved(session: Session, moves: Sequence[_Move]) -> list[list[NDArray[np.bool_]]]:
    """Make these moves, one after the other; for each group of each, who had room.

    Some blocks at a time, which is sound: whether somebody has room is decided for each alone.
    """
    able = [[np.empty(len(group), np.bool_) for group in move.groups] for move in moves]
    numbers = [numbers_of(group) for move in moves for group in move.groups]
    mine = np.unique(np.concatenate([*numbers, np.empty(0, np.int64)]))
    rewritten = among_others(session, mine, sum(move.burden.uploaded for move in moves))
    columns = tuple(dict.fromkeys(column for move in moves for column in move.columns))
    for blocks in Blocks.in_turn(session, rewritten, columns, made=mine):
        for move, masks in zip(moves, able, strict=True):
            _move(blocks, move, masks)
        blocks.save(session)
    return able


def _move(blocks: Blocks, move: _Move, able: list[NDArray[np.bool_]]) -> None:
    """Add to the balances in these blocks, and write down of whom that was."""
    parts = [blocks.part(group) for group in move.groups]
    here = [group[part] for group, part in zip(move.groups, parts, strict=True)]
    bearing = blocks.add(blocks.place(np.concatenate(here)), move.columns, move.amount, move.room)
    ends = np.cumsum([len(persons) for persons in here])
    for mask, part, some in zip(able, parts, np.split(bearing, ends[:-1]), strict=True):
        mask[part] = some
