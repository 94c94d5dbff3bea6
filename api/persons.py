"""What each person has borne, over all auditors, for ever: a filter that leaves out the exhausted.

Every person has a lifetime cap in rho that never renews. At submission, whoever the audit would
take beyond the cap is left out of it, and everybody else is charged; nothing of this is visible
(R2). Whether a person is left out depends on that person's own history alone, so the filter is
sound under adaptive composition: see docs/guarantee.md.

Balances are exact integers in blocks of neighbouring person numbers: an audience of a million
touches a thousand rows, one of a hundred at most a hundred. They live in the platform's own tables
and never enter the ledger. Only the holder of the platform account's lock may change them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlalchemy import Table as SqlTable
from sqlalchemy import bindparam, inspect
from sqlmodel import Session, col, func, select

from api.store import ExclusionRow, PersonBlockRow, find_all
from api.store.types import to_pico
from privacy.membership import Membership, Persons

_BITS = 10
BLOCK = 1 << _BITS
_BYTES = 8 * BLOCK
COLUMNS = ("spent", "carried", "drawn", "carried_drawn")
Balances = NDArray[np.int64]


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
    blocks = Blocks.of(session, membership, paid(drawn=drawn), uploaded)
    everyone = membership.everyone()
    place = blocks.place(everyone)
    able = blocks["spent"][place] <= to_pico(cap) - to_pico(cost)
    if able.all():
        blocks.add(place, to_pico(cost))
        blocks.save(session)
        return [None] * len(membership.groups)
    blocks.add(place[able], to_pico(cost))
    blocks.save(session)
    exhausted = everyone[~able]
    return [~np.isin(group, exhausted) for group in membership.groups]


def refund(
    session: Session,
    membership: Membership,
    cost: Fraction,
    uploaded: int = 0,
    *,
    drawn: bool = False,
) -> None:
    """Give the cost back to everybody who was charged it."""
    blocks = Blocks.of(session, membership, paid(drawn=drawn), uploaded)
    blocks.add(blocks.place(membership.everyone()), -to_pico(cost))
    blocks.save(session)


def carry(session: Session, membership: Membership, cost: Fraction, *, drawn: bool = False) -> None:
    """Remember what an audience bore, before its members are erased, so that sums still check."""
    columns = ("carried", "carried_drawn") if drawn else ("carried",)
    blocks = Blocks.of(session, membership, columns)
    blocks.add(blocks.place(membership.everyone()), to_pico(cost))
    blocks.save(session)


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
    groups = (
        group[np.unpackbits(masks[label], count=len(group)).astype(bool)]
        if label in masks
        else group
        for label, group in zip(labels, membership.groups, strict=True)
    )
    return Membership(tuple(groups), membership.groups_per_person)


@dataclass
class Blocks:
    """The blocks of some people in memory, by sorted block number, one after the other.

    Of all columns only those that were asked for: the others stay as they are.
    """

    numbers: NDArray[np.int64]
    new: NDArray[np.bool_]
    columns: dict[str, Balances]

    def __getitem__(self, column: str) -> Balances:
        return self.columns[column]

    @classmethod
    def of(
        cls, session: Session, membership: Membership, columns: Sequence[str], at_least: int = 0
    ) -> "Blocks":
        """The blocks these people are in, and others at random up to the number asked for.

        A group's people are sorted, and so are its blocks.
        """
        firsts = [np.empty(0, np.int64)]
        for group in membership.groups:
            blocks = group >> _BITS
            firsts.append(blocks[np.flatnonzero(np.diff(blocks, prepend=-1))])
        mine = np.unique(np.concatenate(firsts))
        numbers = np.union1d(mine, _others(session, at_least - len(mine)))
        return cls.load(session, numbers, columns)

    @classmethod
    def load(
        cls, session: Session, numbers: NDArray[np.int64], columns: Sequence[str] = COLUMNS
    ) -> "Blocks":
        rows = _rows(session, numbers, columns)
        at = np.searchsorted(numbers, [row[0] for row in rows])
        new = np.ones(len(numbers), bool)
        new[at] = False
        balances = {
            column: _column(len(numbers), at, [row[place] for row in rows])
            for place, column in enumerate(columns, start=1)
        }
        return cls(numbers, new, balances)

    def place(self, persons: Persons) -> NDArray[np.int64]:
        """Where these people's balances are; their blocks must be here."""
        if len(persons) == 0:
            return persons
        low, high = int(self.numbers[0]), int(self.numbers[-1])
        if high - low + 1 == len(self.numbers):
            return persons - (low << _BITS)
        row = np.searchsorted(self.numbers, persons >> _BITS)
        return (row << _BITS) + (persons & (BLOCK - 1))

    def add(self, place: NDArray[np.int64], cost: int) -> None:
        """To every column that is here."""
        for balances in self.columns.values():
            balances[place] += cost

    def save(self, session: Session) -> None:
        """New blocks whole, of others the columns that are here."""
        rows = self._as_rows()
        fresh = [row for row, new in zip(rows, self.new, strict=True) if new]
        changed = [row for row, new in zip(rows, self.new, strict=True) if not new]
        connection = session.connection()
        table = cast("SqlTable", inspect(PersonBlockRow).local_table)
        values: dict[str, Any] = {name: bindparam(f"{name}_") for name in self.columns}
        if fresh:
            number: dict[str, Any] = {"number": bindparam("number_")}
            nothing = {"spent": _NOTHING} if "spent" not in self.columns else {}
            connection.execute(table.insert().values(number | nothing | values), fresh)
        if changed:
            mine = table.c.number == bindparam("number_")
            connection.execute(table.update().where(mine).values(values), changed)

    def _as_rows(self) -> list[dict[str, Any]]:
        names = ["number_", *(f"{name}_" for name in self.columns)]
        packed = [_packed(name, balances) for name, balances in self.columns.items()]
        columns = zip(self.numbers.tolist(), *packed, strict=True)
        return [dict(zip(names, row, strict=True)) for row in columns]


def _others(session: Session, wanted: int) -> NDArray[np.int64]:
    """So many block numbers at random among those there are, or all of them if they are fewer."""
    last = session.exec(select(func.max(PersonBlockRow.number))).one()
    if last is None or wanted <= 0:
        return np.empty(0, np.int64)
    if wanted > last:
        return np.array(session.exec(select(PersonBlockRow.number)).all(), np.int64)
    drawn = np.unique(np.random.default_rng().integers(0, last + 1, wanted))
    there = select(PersonBlockRow.number).where(col(PersonBlockRow.number).in_(drawn.tolist()))
    return np.array(session.exec(there).all(), np.int64)


def pack(balances: Balances) -> list[bytes]:
    """Block by block; neighbours have often borne the same, and compress to next to nothing."""
    data = np.ascontiguousarray(balances, "<i8").data.cast("B")
    return [
        pa.compress(data[start : start + _BYTES], codec="lz4", asbytes=True)
        for start in range(0, len(data), _BYTES)
    ]


def _packed(name: str, balances: Balances) -> Sequence[bytes | None]:
    """What everybody has borne in every block; of the rest None where there is nothing."""
    if name == "spent":
        return pack(balances)
    blocks = balances.reshape(-1, BLOCK)
    some = np.flatnonzero(blocks.any(axis=1))
    packed: list[bytes | None] = [None] * len(blocks)
    for at, data in zip(some.tolist(), pack(blocks[some].ravel()), strict=True):
        packed[at] = data
    return packed


def _column(size: int, at: NDArray[np.intp], blocks: Sequence[bytes | None]) -> Balances:
    """So many blocks one after the other, nothing in those that are not there."""
    there = [number for number, data in enumerate(blocks) if data is not None]
    kept = unpack([data for data in blocks if data is not None])
    if np.array_equal(at[there], np.arange(size)):
        return kept.ravel()
    whole = np.zeros((size, BLOCK), np.int64)
    whole[at[there]] = kept
    return whole.ravel()


def unpack(blocks: list[bytes]) -> Balances:
    whole = (pa.decompress(each, _BYTES, codec="lz4", asbytes=True) for each in blocks)
    return np.frombuffer(bytearray().join(whole), "<i8").reshape(-1, BLOCK)


_NOTHING = pack(np.zeros(BLOCK, np.int64))[0]
_Row = tuple[Any, ...]


def _rows(session: Session, numbers: NDArray[np.int64], columns: Sequence[str]) -> list[_Row]:
    """Number and columns of the blocks that are there."""
    wanted = [getattr(PersonBlockRow, name) for name in ("number", *columns)]
    found: list[_Row] = []
    for chunk in np.array_split(numbers, max(1, len(numbers) // 500)):
        here = col(PersonBlockRow.number).in_(chunk.tolist())
        found += session.exec(select(*wanted).where(here)).all()
    return found
