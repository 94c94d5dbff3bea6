"""Rows of logs exchanged by person: out of the pieces in which they lie, into partitions.

A person's rows may be in every piece. They are in one partition afterwards, in the order of the
pieces, so that at most `rows_per_person` of them are drawn from all, and not from each piece.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from api.adapters import PlatformDownError
from api.engine.partitions import of_persons, ordered
from api.platform import NOBODY, Log, Persons, Pieces, Wanted
from privacy.membership import among

PERSON = "person"
CODES = pa.dictionary(pa.int32(), pa.string())


def scattered(
    pieces: Pieces, wanted: Wanted, piece: str, everyone: Persons, partitions: int
) -> list[pa.Table]:
    """The rows of a piece that are of these people, who are sorted, for each partition."""
    try:
        batches = list(pieces.scan(wanted.log, piece, wanted.columns))
    except Exception as error:  # of an adapter; whoever is in the piece, it is not to be had
        raise PlatformDownError(f"a piece of {wanted.log!r} cannot be read") from error
    if not batches:
        return [nothing(wanted.columns)] * partitions
    table = pa.Table.from_batches(batches).select([PERSON, *wanted.columns])
    person = _persons(table)
    mine = np.flatnonzero(among(person, everyone))
    order, ends = ordered(of_persons(person[mine], partitions), partitions)
    table = with_codes(table.take(mine[order]))
    return [table.slice(start, stop - start) for start, stop in pairwise([0, *ends, len(table)])]


@dataclass(frozen=True)
class Gathered:
    """The rows of one partition as logs that are read by person."""

    described: Mapping[str, Log]
    rows: pa.Table
    person: Persons

    @classmethod
    def of(
        cls, described: Mapping[str, Log], wanted: Wanted, shares: Sequence[pa.Table]
    ) -> "Gathered":
        """What came from all pieces, in their order."""
        some = [share for share in shares if len(share)] or [nothing(wanted.columns)]
        # Dictionaries of pieces are made one before rows of them are mixed.
        rows = pa.concat_tables(some, promote_options="permissive").unify_dictionaries()
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


def nothing(columns: Iterable[str]) -> pa.Table:
    """No rows of these columns, of no type."""
    return pa.table({name: pa.nulls(0) for name in (PERSON, *columns)})


def with_codes(table: pa.Table) -> pa.Table:
    """Words as codes of one type, whatever they were: pieces differ, and words repeat."""
    for place, column in enumerate(table.columns):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = column.cast(pa.string()).dictionary_encode()
        elif pa.types.is_dictionary(column.type):
            column = pa.chunked_array([_recoded(each) for each in column.chunks], CODES)
        table = table.set_column(place, table.column_names[place], column)
    return table


def _recoded(chunk: pa.DictionaryArray) -> pa.DictionaryArray:
    codes, words = chunk.indices.cast(pa.int32()), chunk.dictionary.cast(pa.string())
    return pa.DictionaryArray.from_arrays(codes, words)


def _persons(table: pa.Table) -> Persons:
    return np.asarray(pc.fill_null(table[PERSON].cast(pa.int64()), NOBODY), np.int64)
