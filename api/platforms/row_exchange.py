"""Exchange of log rows by person: from the pieces that store them, into partitions.

A person's rows may be in every piece. Afterwards they are in one partition, in the order of the
pieces. So at most `rows_per_person` of them are drawn from all pieces together, not from each.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from api.platforms.fault_isolation import iter_isolating_failures
from api.platforms.interfaces import NOBODY, Log, LogColumns, LogFragments, Persons
from api.platforms.partitions import order_by_partition, partition_persons
from privacy.tables.membership import is_among

PERSON = "person"
# Larger integers are not distinct as floats.
_EXACT = 2.0**53
CODES = pa.dictionary(pa.int32(), pa.string())


def scatter_piece(
    pieces: LogFragments,
    log: Log,
    wanted: LogColumns,
    piece: str,
    everyone: Persons,
    partitions: int,
) -> list[pa.Table]:
    """Return the rows of a piece that belong to these sorted people, for each partition."""
    found = [
        rows
        for batch in pieces.scan(wanted.log, piece, wanted.columns)
        for rows in _convert(batch, log, wanted.columns, everyone)
    ]
    table = _concatenate([empty_table(wanted.columns), *found])
    order, ends = order_by_partition(partition_persons(_persons(table), partitions), partitions)
    table = table.take(order)
    return [table.slice(start, stop - start) for start, stop in pairwise([0, *ends, len(table)])]


def _convert(
    batch: pa.RecordBatch, log: Log, columns: Sequence[str], everyone: Persons
) -> Iterator[pa.Table]:
    """Return the usable rows of a batch; an unusable row drops nobody else's (R2)."""

    def some(start: int, stop: int) -> pa.Table:
        return _unify_types(batch.slice(start, stop - start), log, columns, everyone)

    try:
        some(0, 0)
    except Exception:  # a missing column or a wrong type makes every row unusable
        return
    for _, _, rows in iter_isolating_failures(some, len(batch)):
        yield rows


def _unify_types(
    batch: pa.RecordBatch, log: Log, columns: Sequence[str], everyone: Persons
) -> pa.Table:
    """Return the rows of these people, in the types that other batches and pieces have too."""
    person = read_persons(pa.chunked_array([batch[PERSON]]))
    mine = np.flatnonzero(is_among(person, everyone))
    rows = pa.Table.from_batches([batch]).select(columns).take(mine)
    typed = {
        name: (_to_numbers if name in log.numbers else _to_categories)(rows[name])
        for name in columns
    }
    return pa.table({PERSON: person[mine]} | typed)


@dataclass(frozen=True)
class GatheredLogs:
    """Rows of one partition, as logs that are read by person."""

    described: Mapping[str, Log]
    rows: pa.Table
    person: Persons

    @classmethod
    def of(
        cls, described: Mapping[str, Log], wanted: LogColumns, shares: Sequence[pa.Table]
    ) -> "GatheredLogs":
        """Return the rows of all pieces, in their order."""
        rows = _concatenate([empty_table(wanted.columns), *shares])
        person = _persons(rows)
        order = np.argsort(person, kind="stable")
        return cls(described, rows.take(order), person[order])

    def logs(self) -> Mapping[str, Log]:
        return self.described

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        ends = [persons[0], persons[-1] + 1] if len(persons) else [0, 0]
        first, last = np.searchsorted(self.person, ends)
        rows = self.rows.slice(first, last - first).select([PERSON, *columns])
        batches: list[pa.RecordBatch] = rows.to_batches()
        return batches


def empty_table(columns: Iterable[str]) -> pa.Table:
    """Return a table of these columns without rows or types."""
    return pa.table({name: pa.nulls(0) for name in (PERSON, *columns)})


def encode_categories(table: pa.Table) -> pa.Table:
    """Return categories as codes of one type, because the pieces differ and categories repeat."""
    for index, column in enumerate(table.columns):
        kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary)
        if any(is_one(column.type) for is_one in kinds):
            table = table.set_column(index, table.column_names[index], _to_categories(column))
    return table


def read_persons(column: pa.ChunkedArray) -> Persons:
    """Return the numbers of people: one below 0 for a number that is missing, not whole or too
    large.
    """
    if pa.types.is_floating(column.type):
        numbers = np.asarray(column.cast(pa.float64()))  # NaN for missing values
        whole = (np.floor(numbers) == numbers) & (np.abs(numbers) < _EXACT)
        return np.where(whole, numbers, NOBODY).astype(np.int64)
    # A number above the largest one wraps around, and becomes negative.
    found = column.cast(pa.int64(), safe=not pa.types.is_integer(column.type))
    return np.asarray(pc.fill_null(found, NOBODY), np.int64)


def _concatenate(tables: Sequence[pa.Table]) -> pa.Table:
    """Concatenate tables; their dictionaries are unified before rows are mixed."""
    some = [table for table in tables if len(table)] or [*tables[:1]]
    return pa.concat_tables(some, promote_options="permissive").unify_dictionaries()


def _to_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column as numbers; flags stay one byte."""
    if pa.types.is_uint8(column.type):
        return column
    return column.cast(pa.uint8() if pa.types.is_boolean(column.type) else pa.float64())


def _to_categories(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return pa.chunked_array([_recoded(each) for each in column.chunks], CODES)
    return column.cast(pa.string()).dictionary_encode()


def _recoded(chunk: pa.DictionaryArray) -> pa.DictionaryArray:
    codes, words = chunk.indices.cast(pa.int32()), chunk.dictionary.cast(pa.string())
    return pa.DictionaryArray.from_arrays(codes, words)


def _persons(table: pa.Table) -> Persons:
    return read_persons(table[PERSON])
