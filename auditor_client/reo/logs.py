"""A researcher's own logs: positives by group from tables of rows, without any platform.

A table has a column of zeros and ones (or true and false) for each signal, and one for the group of
the creator; maybe one for the viewer and one for the day. A row is positive if any signal is.
Columns are read and counted whole, never row by row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from auditor_client.errors import InputError
from auditor_client.frames import open_columns

Source = Any
Codes = NDArray[np.integer[Any]]

_PIECE = 1 << 17


@dataclass(frozen=True)
class Columns:
    """Which columns say what."""

    labels: tuple[str, ...]
    group: str
    viewer: str | None = None
    day: str | None = None

    @property
    def all(self) -> list[str]:
        more = [name for name in (self.viewer, self.day) if name]
        return list(dict.fromkeys([*self.labels, self.group, *more]))


@dataclass(frozen=True, eq=False)
class Log:
    """The rows of one traffic: which group, as a place in `names`, whether positive, and whose."""

    traffic: str
    names: tuple[str, ...]
    group: Codes
    positive: NDArray[np.bool_]
    viewer: pa.ChunkedArray | None = None
    day: pa.ChunkedArray | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(sorted(self.names))

    @property
    def rows(self) -> int:
        return len(self.group)

    @property
    def shown(self) -> dict[str, int]:
        """Rows by group."""
        return self._named(self._counts.sum(axis=1))

    @property
    def positives(self) -> dict[str, int]:
        """Positive rows by group."""
        return self._named(self._counts[:, 1])

    def positive_groups(self) -> NDArray[np.int64]:
        """The group of each positive row, as a place in `groups`."""
        places = np.asarray([self.groups.index(name) for name in self.names], np.int64)
        return np.asarray(places[self.group[self.positive]])

    def days(self) -> "dict[str, Log]":
        """The log cut by day, in their order."""
        if self.day is None:
            raise InputError("Say which column is the day.")
        found = pc.dictionary_encode(self.day).combine_chunks()
        codes = np.asarray(found.indices)
        names = [str(name) for name in found.dictionary.to_pylist()]
        order = sorted(range(len(names)), key=lambda code: names[code])
        return {names[code]: self._where(codes == code) for code in order}

    def _where(self, rows: NDArray[np.bool_]) -> "Log":
        viewer = None if self.viewer is None else self.viewer.filter(pa.array(rows))
        return Log(self.traffic, self.names, self.group[rows], self.positive[rows], viewer)

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        """Rows by group and label, a piece at a time that fits into a cache."""
        total = np.zeros(2 * len(self.names), np.int64)
        for start in range(0, self.rows, _PIECE):
            piece = slice(start, start + _PIECE)
            cells = self.group[piece].astype(np.intp) * 2 + self.positive[piece]
            total += np.bincount(cells, minlength=len(total))
        return total.reshape(-1, 2)

    def _named(self, counts: NDArray[np.int64]) -> dict[str, int]:
        found = dict(zip(self.names, counts.tolist(), strict=True))
        return {name: found[name] for name in self.groups}


def read_log(source: Source, columns: Columns, traffic: str) -> Log:
    """A log from a Parquet or CSV file, or from a pandas, Polars or Arrow table."""
    table = _open(source, columns, traffic)
    if not len(table):
        raise InputError(f"There are no rows in {traffic} traffic.")
    codes, names = _groups(table[columns.group], columns.group, traffic)
    viewer = table[columns.viewer] if columns.viewer else None
    if viewer is not None and viewer.null_count:
        raise InputError(f"{viewer.null_count} rows of {traffic} traffic have no viewer.")
    day = table[columns.day] if columns.day else None
    return Log(traffic, names, codes, _positive(table, columns.labels, traffic), viewer, day)


def _open(source: Source, columns: Columns, traffic: str) -> pa.Table:
    if not isinstance(source, str | Path):
        return open_columns(source, columns.all)
    path = Path(source)
    if not path.is_file():
        raise InputError(f"There is no file {path} of {traffic} traffic.")
    try:
        if path.suffix.lower() in (".csv", ".tsv", ".txt"):
            return _csv(path, columns)
        there = pq.read_schema(path).names
        _refuse_lost(columns, there, path)
        return pq.read_table(path, columns=columns.all)
    except pa.ArrowException as error:
        raise InputError(f"{path} is neither CSV (by its name) nor Parquet: {error}") from error


def _csv(path: Path, columns: Columns) -> pa.Table:
    parse = csv.ParseOptions(delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    with csv.open_csv(path, parse_options=parse) as reader:
        _refuse_lost(columns, reader.schema.names, path)
    wanted = csv.ConvertOptions(include_columns=columns.all)
    return csv.read_csv(path, parse_options=parse, convert_options=wanted)


def _refuse_lost(columns: Columns, there: Sequence[str], path: Path) -> None:
    if lost := [name for name in columns.all if name not in there]:
        known = ", ".join(there)
        words = ", ".join(map(repr, lost))
        raise InputError(f"There is no column {words} in {path.name}; there are: {known}.")


def _groups(column: pa.ChunkedArray, name: str, traffic: str) -> tuple[Codes, tuple[str, ...]]:
    if column.null_count:
        raise InputError(
            f"{column.null_count} rows of {traffic} traffic have no value in {name!r}:"
            " fill them, or leave them out."
        )
    found = pc.dictionary_encode(column).combine_chunks()
    # True and 1 are the same group, whichever way a file has it.
    values = found.dictionary.to_pylist()
    names = [str(int(value) if isinstance(value, bool) else value) for value in values]
    return np.asarray(found.indices), tuple(names)


def _positive(table: pa.Table, labels: Sequence[str], traffic: str) -> NDArray[np.bool_]:
    """Whether any of the signals is there."""
    if not labels:
        raise InputError("Name at least one column of labels, for example like,share.")
    union = _flags(table[labels[0]], labels[0], traffic)
    for name in labels[1:]:
        union = pc.or_(union, _flags(table[name], name, traffic))
    return np.asarray(union.to_numpy())


def _flags(column: pa.ChunkedArray, name: str, traffic: str) -> pa.ChunkedArray:
    if column.null_count:
        raise InputError(f"{column.null_count} labels {name!r} are missing in {traffic} traffic.")
    if pa.types.is_boolean(column.type):
        return column
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise InputError(f"The labels of {name!r} must be 0 and 1, not of type {column.type}.")
    ones = pc.equal(column, pa.scalar(1, column.type))
    if not pc.all(pc.or_(ones, pc.equal(column, pa.scalar(0, column.type)))).as_py():
        off = pc.max(column).as_py(), pc.min(column).as_py()
        raise InputError(
            f"The labels of {name!r} must be 0 and 1, but go from {off[1]:g} to {off[0]:g}"
            f" in {traffic} traffic."
        )
    return ones
