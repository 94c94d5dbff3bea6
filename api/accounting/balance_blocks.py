"""Balances in blocks of neighbouring person numbers, in the database and in memory.

A block is a row of compressed columns: the amount that each person has spent, and parts of it. Only
the holder of the ledger lock (`api.ledger.lock`) may change them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlalchemy import (
    BigInteger,
    Insert,
    Select,
    Update,
    and_,
    bindparam,
    func,
    inspect,
    select,
    true,
)
from sqlalchemy import Table as SqlTable
from sqlmodel import Session

from api.db import PersonBlockRow
from api.db.bulk_writes import execute_in_driver
from api.db.types import Plain
from privacy.tables.membership import Persons

_BITS = 10
BLOCK = 1 << _BITS
_BYTES = 8 * BLOCK
BLOCKS_PER_QUERY = 512  # blocks: four megabytes of balances, and one query
COLUMNS = ("spent", "carried", "drawn", "carried_drawn")
Balances = NDArray[np.int64]


class NegativeBalanceError(Exception):
    """A balance would fall below zero; nothing was written. It names nobody (R2)."""


def list_block_numbers(persons: Persons) -> NDArray[np.int64]:
    """Return the sorted numbers of the blocks of these people, who are sorted, each once."""
    numbers = persons >> _BITS
    return np.concatenate([numbers[:1], numbers[1:][numbers[1:] != numbers[:-1]]])


def padded_block_numbers(
    session: Session, numbers: NDArray[np.int64], at_least: int
) -> NDArray[np.int64]:
    """Return these blocks and random others: `at_least` in all, or every block there is.

    The other blocks are not checked for existence: on a platform with dense numbers all exist.
    """
    last = session.connection().execute(_LAST).scalar()
    if last is None:
        return numbers
    if at_least > last:
        return np.union1d(numbers, np.arange(last + 1))
    rng = np.random.default_rng()
    others = np.setdiff1d(rng.choice(last + 1, at_least, replace=False, shuffle=False), numbers)
    return np.union1d(numbers, rng.permutation(others)[: max(at_least - len(numbers), 0)])


@dataclass
class Blocks:
    """Blocks in memory, one after the other, sorted by block number.

    Only the requested columns are loaded, and only they change. `written` marks the blocks in which
    all other columns were ever written; a column that was never written holds zeros.
    """

    numbers: NDArray[np.int64]
    new: NDArray[np.bool_]
    columns: dict[str, Balances]
    written: NDArray[np.bool_]

    def __getitem__(self, column: str) -> Balances:
        return self.columns[column]

    @classmethod
    def chunks(
        cls,
        session: Session,
        numbers: NDArray[np.int64],
        columns: Sequence[str],
        made: NDArray[np.int64] | None = None,
    ) -> Iterator["Blocks"]:
        """Yield parts of the blocks: people scattered over a large platform have a block each."""
        for start in range(0, len(numbers), BLOCKS_PER_QUERY):
            some = cls.load(session, numbers[start : start + BLOCKS_PER_QUERY], columns, made)
            if len(some.numbers):
                yield some

    @classmethod
    def load(
        cls,
        session: Session,
        numbers: NDArray[np.int64],
        columns: Sequence[str] = COLUMNS,
        made: NDArray[np.int64] | None = None,
    ) -> "Blocks":
        """Return the existing blocks of these numbers, and new ones for `made` (default: all
        numbers).
        """
        rows = _load_rows(session, numbers, columns)
        there = np.array([row[0] for row in rows], np.int64)
        if made is not None:
            numbers = numbers[np.isin(numbers, there) | np.isin(numbers, made)]
        at = np.searchsorted(numbers, there)
        new = np.ones(len(numbers), bool)
        new[at], written = False, np.zeros(len(numbers), bool)
        written[at] = np.array([row[-1] for row in rows], bool)
        balances = {
            column: _unpack_column(len(numbers), at, [row[index] for row in rows])
            for index, column in enumerate(columns, start=1)
        }
        return cls(numbers, new, balances, written)

    def part(self, persons: Persons) -> slice:
        """Return the slice of these sorted people that lies in the blocks held here."""
        ends = [self.numbers[0] << _BITS, (self.numbers[-1] + 1) << _BITS]
        return slice(*np.searchsorted(persons, ends).tolist())

    def locate(self, persons: Persons) -> NDArray[np.int64]:
        """Return the positions of these people's balances; their blocks must be here."""
        if len(persons) == 0:
            return persons
        low, high = int(self.numbers[0]), int(self.numbers[-1])
        if high - low + 1 == len(self.numbers):
            return persons - (low << _BITS)
        row = np.searchsorted(self.numbers, persons >> _BITS)
        return (row << _BITS) + (persons & (BLOCK - 1))

    def add(
        self,
        positions: NDArray[np.int64],
        columns: Sequence[str],
        amount: int | Balances,
        room: int | None = None,
    ) -> NDArray[np.bool_]:
        """Add an amount to these columns where `spent` is at most `room`.

        Return where it was added.

        The amount is one number for all positions, or one for each. A position that occurs twice (a
        person in two groups) is debited once, and has the same amount both times.
        """
        able = (
            np.full(len(positions), True) if room is None else self["spent"].take(positions) <= room
        )
        for balances in (self[column] for column in columns):
            # Twice as fast as adding in place if most people are within the cap.
            there = balances.take(positions)
            balances[positions] = np.add(there, amount, out=there, where=able)
        return able

    def save(self, session: Session) -> None:
        """Write new blocks whole and the loaded columns of the others, each with its minimum.

        `spent` must be loaded. Raise `NegativeBalanceError` before anything is written if a balance
        is below zero.
        """
        rows = self._as_rows(self.lowest(session))
        fresh = [row for row, new in zip(rows, self.new, strict=True) if new]
        changed = [row for row, new in zip(rows, self.new, strict=True) if not new]
        if fresh:
            session.connection().execute(_insert_blocks(tuple(self.columns)), fresh)
        if changed:
            execute_in_driver(session, _update_blocks(tuple(self.columns)), changed)

    def least(self) -> NDArray[np.int64]:
        """Return the minimum of each block over the loaded columns."""
        each = [balances.reshape(-1, BLOCK).min(axis=1) for balances in self.columns.values()]
        least: NDArray[np.int64] = np.minimum.reduce(each)
        return least

    def lowest(self, session: Session) -> NDArray[np.int64]:
        """Return the minimum of each block over all columns.

        No column is below zero. So the others are read only where they can lower the minimum: where
        all of them were written and every loaded balance is above zero.
        """
        if "spent" not in self.columns:
            raise ValueError("the minimum of a block needs its column `spent`")
        lowest, others = self.least(), [name for name in COLUMNS if name not in self.columns]
        if not others:
            return lowest
        open_ = self.written & (lowest > 0)
        lowest[~open_] = np.minimum(lowest[~open_], 0)
        if open_.any():
            rest = Blocks.load(session, self.numbers[open_], others)
            lowest[open_] = np.minimum(lowest[open_], rest.least())
        return lowest

    def _as_rows(self, lowest: NDArray[np.int64]) -> list[dict[str, Any]]:
        if (lowest < 0).any():
            raise NegativeBalanceError("A balance would fall below zero. Nothing was written.")
        names = ["number_", "lowest_", *(f"{name}_" for name in self.columns)]
        packed = [pack(balances) for balances in self.columns.values()]
        columns = zip(self.numbers.tolist(), lowest.tolist(), *packed, strict=True)
        return [dict(zip(names, row, strict=True)) for row in columns]


def load_stated_lowest(session: Session, blocks: Blocks) -> NDArray[np.int64]:
    """Return the minimum that the database states for each of these blocks; 0 for a new one."""
    stated = np.zeros(len(blocks.numbers), np.int64)
    question = select(_TABLE.c.number, _TABLE.c.lowest).where(
        _TABLE.c.number.in_(bindparam("numbers", expanding=True))
    )
    for start in range(0, len(blocks.numbers), BLOCKS_PER_QUERY):
        some = {"numbers": blocks.numbers[start : start + BLOCKS_PER_QUERY].tolist()}
        for number, lowest in session.connection().execute(question, some):
            stated[np.searchsorted(blocks.numbers, number)] = lowest
    return stated


def pack(balances: Balances) -> list[bytes]:
    """Return the compressed blocks; neighbours often have equal balances, which compress well."""
    data = np.ascontiguousarray(balances, "<i8").data.cast("B")
    return [
        pa.compress(data[start : start + _BYTES], codec="lz4", asbytes=True)
        for start in range(0, len(data), _BYTES)
    ]


def _unpack_column(size: int, at: NDArray[np.intp], blocks: Sequence[bytes | None]) -> Balances:
    """Return a column of `size` blocks, one after the other; missing blocks are zero.

    A column that was never written is decompressed too, so that the time does not show the
    difference.
    """
    kept = unpack([_ZEROS if data is None else data for data in blocks])
    if np.array_equal(at, np.arange(size)):
        return kept.ravel()
    whole = np.zeros((size, BLOCK), np.int64)
    whole[at] = kept
    return whole.ravel()


def unpack(blocks: list[bytes]) -> Balances:
    whole = (pa.decompress(each, _BYTES, codec="lz4", asbytes=True) for each in blocks)
    return np.frombuffer(bytearray().join(whole), "<i8").reshape(-1, BLOCK)


_ZEROS = pack(np.zeros(BLOCK, np.int64))[0]
_Row = tuple[Any, ...]


def _load_rows(session: Session, numbers: NDArray[np.int64], columns: Sequence[str]) -> list[_Row]:
    """Return number and columns of the stored blocks, and whether all others were written."""
    question, found = _select_blocks(tuple(columns)), list[_Row]()
    for start in range(0, len(numbers), BLOCKS_PER_QUERY):
        some = {"numbers": numbers[start : start + BLOCKS_PER_QUERY].tolist()}
        found += session.connection().execute(question, some).all()
    return found


# Every charge runs these statements, and building one takes longer than running it.
_TABLE = cast("SqlTable", inspect(PersonBlockRow).local_table)
_LAST = select(func.max(_TABLE.c.number))


@cache
def _select_blocks(columns: tuple[str, ...]) -> Select[Any]:
    wanted = [_TABLE.c[name] for name in ("number", *columns)]
    others = [_TABLE.c[name].is_not(None) for name in COLUMNS if name not in columns]
    return select(*wanted, and_(true(), *others)).where(
        _TABLE.c.number.in_(bindparam("numbers", expanding=True))
    )


@cache
def _insert_blocks(columns: tuple[str, ...]) -> Insert:
    return _TABLE.insert().values(
        {"spent": _ZEROS, "number": bindparam("number_")} | _bind_columns(columns)
    )


@cache
def _update_blocks(columns: tuple[str, ...]) -> Update:
    this = _TABLE.c.number == bindparam("number_")
    return _TABLE.update().where(this).values(_bind_columns(columns))


def _bind_columns(columns: tuple[str, ...]) -> dict[str, Any]:
    """Bind the bytes unchanged: both drivers accept them, and wrapping takes longer than
    writing.
    """
    data = {name: bindparam(f"{name}_", type_=Plain()) for name in columns}
    return {"lowest": bindparam("lowest_", type_=BigInteger()), **data}
