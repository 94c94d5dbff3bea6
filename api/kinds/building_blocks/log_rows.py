"""Rows of logs as an audit may read them: a limited number per person, within public ranges (R4).

Unit: one person, of the role that the log names. Whatever the log holds, at most `rows_per_person`
rows of a person are read, drawn uniformly from their usable rows. The draw depends on that person's
own rows and on a secret that is new for every audit, never on other people. So with any secret, one
person's data change one person's rows.

Errors of an adapter are corrected, and nobody can tell whom they concern (R2). People for whom it
fails have no rows. A row with an invalid number, or with a category that was not requested, counts
as absent. Numbers are clipped to their public range. Rows of people who were not requested are
dropped.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from api.kernel import failpoints
from api.kernel.failpoints import Failpoint
from api.kinds.building_blocks.log_checks import logs_of
from api.kinds.building_blocks.table_sum import sum_tables
from api.kinds.context import AuditContext
from api.platforms.fault_isolation import iter_isolating_failures, require_platform_up
from api.platforms.interfaces import Log, LogColumns, Logs, Persons, Platform
from api.platforms.row_exchange import PERSON, empty_table, read_persons
from api.platforms.row_sampling import Indices, find_runs, sample_rows
from api.telemetry.metrics import adapter_call
from privacy.tables.bounded_table import Bounds, Table
from privacy.tables.membership import BATCH, Membership, is_among

# Bytes of a batch of people, as the rows arrive. A larger batch is split into fewer people, and a
# person who exceeds it alone is dropped.
_MOST_BYTES = 2**28
# Rows that are converted at once, and rows that are reduced at once.
_PART, _REDUCED = 2**21, 2**19
# Maximum memory for rows of a log, as numbers, in another order and of the batch before: measured.
HELD_BYTES = 5 * _MOST_BYTES
# The number of one group, or an array with the group of each row.
Groups = int | Indices


@dataclass(frozen=True)
class Selection:
    """Columns to read from a log: numeric ones, and categorical ones with the categories that
    count.

    A row may lack values of the `optional` numeric columns: they are NaN then.
    """

    log: str
    numbers: tuple[str, ...]
    words: Mapping[str, Sequence[str]]
    rows_per_person: int
    optional: tuple[str, ...] = ()

    @property
    def wanted(self) -> LogColumns:
        return LogColumns(self.log, tuple(dict.fromkeys([*self.numbers, *self.words])))


@dataclass(frozen=True)
class SelectedRows:
    """Columns of rows: numbers, and indices of categories in the selection's list."""

    person: Persons
    numbers: Mapping[str, NDArray[np.float64]]
    words: Mapping[str, NDArray[np.int32]]

    @classmethod
    def joined(cls, parts: Sequence["SelectedRows"]) -> "SelectedRows":
        """Return the rows of all parts, which have the same columns, in one."""
        first, *others = parts
        if not others:
            return first
        return cls(
            np.concatenate([part.person for part in parts]),
            {
                name: np.concatenate([part.numbers[name] for part in parts])
                for name in first.numbers
            },
            {name: np.concatenate([part.words[name] for part in parts]) for name in first.words},
        )

    def take(self, which: NDArray[np.intp] | NDArray[np.bool_]) -> "SelectedRows":
        if which.dtype == np.bool_:
            which = np.flatnonzero(which)  # once for all columns
        return SelectedRows(
            self.person[which],
            {name: column[which] for name, column in self.numbers.items()},
            {name: column[which] for name, column in self.words.items()},
        )

    def part(self, which: slice) -> "SelectedRows":
        """Return a contiguous slice of the rows, without a copy."""
        return SelectedRows(
            self.person[which],
            {name: column[which] for name, column in self.numbers.items()},
            {name: column[which] for name, column in self.words.items()},
        )

    @cached_property
    def runs(self) -> tuple[Indices, Indices]:
        """Return the first index and the number of each person's rows, ordered by person."""
        return find_runs(self.person)

    def select_people(self, persons: Persons) -> "SelectedRows":
        """Return the rows of these sorted people, from rows that are ordered by person."""
        first, rows = self.runs
        who = self.person[first]
        if np.array_equal(who, persons):
            return self
        found = is_among(who, persons)
        return self if found.all() else self.take(np.repeat(found, rows))


def new_secret() -> int:
    """Return a secret that decides, with a person's number, which of their rows are drawn."""
    return secrets.randbits(64)


def draw_rows(
    logs: Logs, selection: Selection, membership: Membership, secret: int
) -> Iterator[tuple[int, SelectedRows]]:
    """Yield the rows of an audience with the number of their group, a batch of people at a time."""
    for persons, rows in _of_everybody(logs, selection, membership, secret):
        for group, members in enumerate(membership.groups):
            yield group, rows.select_people(_within(members, persons))


def _of_everybody(
    logs: Logs, selection: Selection, membership: Membership, secret: int
) -> Iterator[tuple[Persons, SelectedRows]]:
    """Yield people, a batch at a time, with their rows.

    Everybody is read once, in however many groups they are. An empty audience is one empty batch,
    so the number of calls does not show that nobody was found.
    """
    log = logs.logs()[selection.log]
    require_platform_up(lambda: _read(logs, log, selection, np.empty(0, np.int64)))
    everyone = np.sort(membership.everyone())
    for start in range(0, max(1, len(everyone)), BATCH):
        persons = everyone[start : start + BATCH]
        for rows in _read_or_cut(logs, log, selection, persons):
            few = _drawn(rows, selection.rows_per_person, secret)
            failpoints.hit(Failpoint.RUNNING)
            yield persons, few


def tabulate_rows(
    audit: AuditContext,
    selection: Selection,
    membership: Membership,
    bounds: Bounds,
    reduce: Callable[[Groups, SelectedRows], Table],
) -> Table:
    """Return the sum of the tables of all people, wherever they are read.

    `reduce` makes a table from rows and the number of each row's group.
    """
    secret = new_secret()

    def of_some(platform: Platform, some: Membership) -> Table:
        batches = _of_everybody(logs_of(platform), selection, some, secret)
        tables = (
            partial(_reduced, bounds, reduce, group, rows)
            for persons, few in batches
            for group, rows in _grouped(some, persons, few)
        )
        return sum_tables(bounds, some, tables)

    return audit.engine.sum_tables(membership, of_some, selection.wanted)


def _reduced(
    bounds: Bounds,
    reduce: Callable[[Groups, SelectedRows], Table],
    group: Groups,
    rows: SelectedRows,
) -> Table:
    """Return the table of the rows, reduced in chunks: intermediate results are larger than the
    rows.
    """
    table = Table.zeros(bounds)
    for start in range(0, len(rows.person), _REDUCED):
        part = slice(start, start + _REDUCED)
        table += reduce(group if isinstance(group, int) else group[part], rows.part(part))
    return table


def _grouped(
    membership: Membership, persons: Persons, rows: SelectedRows
) -> Iterator[tuple[Groups, SelectedRows]]:
    """Yield all rows at once if nobody is in two groups, otherwise group by group."""
    if len(membership.groups) == 1 or membership.groups_per_person > 1:
        for group, members in enumerate(membership.groups):
            yield group, rows.select_people(_within(members, persons))
        return
    group_of = np.empty(len(persons), np.intp)
    for group, members in enumerate(membership.groups):
        group_of[np.searchsorted(persons, _within(members, persons))] = group
    first, each = rows.runs
    yield np.repeat(group_of[np.searchsorted(persons, rows.person[first])], each), rows


def _drawn(rows: SelectedRows, most: int, secret: int) -> SelectedRows:
    first, each = rows.runs
    if not len(each) or each.max() <= most:
        return rows
    return rows.take(sample_rows(rows.person, first, each, most, secret))


def _within(members: Persons, persons: Persons) -> Persons:
    """Return the members between the first and the last of some people; both are sorted."""
    ends = [persons[0], persons[-1] + 1] if len(persons) else [0, 0]
    first, last = np.searchsorted(members, ends)
    return members[first:last]


def _read_or_cut(
    logs: Logs, log: Log, selection: Selection, persons: Persons
) -> Iterator[SelectedRows]:
    def read(start: int, stop: int) -> SelectedRows | None:
        return _read(logs, log, selection, persons[start:stop])

    for _, _, rows in iter_isolating_failures(read, len(persons)):
        yield rows


def _read(logs: Logs, log: Log, selection: Selection, persons: Persons) -> SelectedRows | None:
    """Return the usable rows of these people, ordered by person.

    Return None if they are too many to hold.
    """
    columns = selection.wanted.columns
    parts, size = list[SelectedRows](), 0
    with adapter_call("read"):
        for part in _parts(logs.read(selection.log, persons, columns)):
            size += _size(part)
            if size > _MOST_BYTES:
                return None
            parts.append(_as_rows(part, selection, log))
    rows = SelectedRows.joined(parts or [_as_rows(empty_table(columns), selection, log)])
    del parts  # freed before everything is copied once more
    if not _is_ordered(rows.person):
        rows = rows.take(np.argsort(rows.person, kind="stable"))
    return rows.select_people(persons)


def _size(part: pa.Table) -> int:
    """Return the size of the rows alone. A shared dictionary may hold other people's categories."""
    return sum(
        8 * len(column)
        if pa.types.is_dictionary(column.type)
        else max(column.nbytes, 8 * len(column))
        for column in part.columns
    )


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Combine small batches before they are converted."""
    waiting, rows = [], 0
    for batch in batches:
        waiting.append(batch)
        rows += len(batch)
        if rows >= _PART:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _as_rows(table: pa.Table, selection: Selection, log: Log) -> SelectedRows:
    """Return the usable rows, with numbers clipped to their ranges."""
    person = read_persons(table[PERSON])
    numbers = {name: _numbers(table[name]) for name in selection.numbers}
    words = {
        name: _category_indices(table[name], values) for name, values in selection.words.items()
    }
    clipped = {name: _clipped(each, *log.numbers[name]) for name, each in numbers.items()}
    rows = SelectedRows(person, clipped, words)
    usable = _usable(rows, numbers, selection.optional)
    return rows if usable.all() else rows.take(usable)


def _usable(
    rows: SelectedRows, numbers: Mapping[str, NDArray[np.float64]], optional: Sequence[str]
) -> NDArray[np.bool_]:
    """Return the mask of rows that have every required value."""
    # Flags are integers, and therefore finite.
    needed = [n for name, n in numbers.items() if name not in optional and n.dtype.kind == "f"]
    # A sum is finite only if all of its terms are, and testing it is faster than testing each.
    with np.errstate(all="ignore"):
        odd = [number for number in needed if not np.isfinite(number.sum())]
    tests = [np.isfinite(number) for number in odd] + [word >= 0 for word in rows.words.values()]
    return np.logical_and.reduce(tests) if tests else np.ones(len(rows.person), np.bool_)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return floats, NaN for missing values; complete columns of flags keep their small type."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if pa.types.is_uint8(column.type) and not column.null_count:
        return np.asarray(column)
    return np.asarray(column.cast(pa.float64()), np.float64)


def _clipped(column: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return the column clipped to the range.

    Most need no clipping, and checking is cheaper than copying.
    """
    inside = np.min(column, initial=low) >= low and np.max(column, initial=high) <= high
    # With a NaN neither comparison holds, so the column is copied.
    return column if inside else np.clip(column, low, high)


def _category_indices(column: pa.ChunkedArray, values: Sequence[str]) -> NDArray[np.int32]:
    """Return the index of each category among the values, -1 for any other."""
    known = pa.array(values, pa.string())
    if pa.types.is_dictionary(column.type):
        chunks = [_indices_of_codes(chunk, known) for chunk in column.chunks]
        return np.concatenate([*chunks, np.empty(0, np.int32)])
    found = pc.fill_null(pc.index_in(column.cast(pa.string()), value_set=known), -1)
    return np.asarray(found, np.int32)


def _indices_of_codes(chunk: pa.DictionaryArray, known: pa.Array) -> NDArray[np.int32]:
    indices = pc.fill_null(pc.index_in(chunk.dictionary.cast(pa.string()), value_set=known), -1)
    codes = chunk.indices
    if codes.null_count:
        codes = pc.fill_null(codes.cast(pa.int64()), len(indices))
    return np.append(np.asarray(indices, np.int32), np.int32(-1)).take(np.asarray(codes))


def _is_ordered(person: Persons) -> bool:
    return bool(np.all(person[1:] >= person[:-1]))
