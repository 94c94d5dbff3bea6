"""Logs of a researcher: positives by group from tables of rows, without a platform.

A table has a column of zeros and ones (or true and false) for each signal, and one for the
creator's group; optionally one for the viewer and one for the day. A row is positive if any signal
is. Columns are read and counted as a whole, never row by row; Polars reads Parquet if it is
installed.
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

from auditor_client.audiences.tables import open_columns
from auditor_client.errors import InputError
from auditor_client.reo.polars_counts import count_rows

Source = Any
Codes = NDArray[np.integer[Any]]

_PIECE = 1 << 17
_TEXT = frozenset({".csv", ".tsv", ".txt"})


@dataclass(frozen=True)
class Columns:
    """Names of the columns by their meaning."""

    labels: tuple[str, ...]
    group: str
    viewer: str | None = None
    day: str | None = None

    @property
    def all(self) -> list[str]:
        return list(dict.fromkeys([*self.labels, *self.keys.values()]))

    @property
    def keys(self) -> dict[str, str]:
        """Map each key column to its role: group, and if given viewer and day."""
        keys = {"group": self.group, "viewer": self.viewer, "day": self.day}
        return {name: column for name, column in keys.items() if column}


@dataclass(frozen=True, eq=False)
class TrafficLog:
    """Rows of one traffic, counted in cells of one group and, if given, one viewer and one day.

    `group` is an index in `names`. A cell may be a single row.
    """

    traffic: str
    names: tuple[str, ...]
    group: Codes
    cell_shown: Codes
    cell_positive: Codes
    viewer: pa.ChunkedArray | None = None
    day: pa.ChunkedArray | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(sorted(self.names))

    @property
    def rows(self) -> int:
        return int(self.cell_shown.sum(dtype=np.int64))

    @cached_property
    def shown(self) -> dict[str, int]:
        """Number of rows by group."""
        return self._named(self.cell_shown)

    @cached_property
    def positives(self) -> dict[str, int]:
        """Number of positive rows by group."""
        return self._named(self.cell_positive)

    def positives_by_viewer(self) -> tuple[pa.ChunkedArray, NDArray[np.int64], Codes]:
        """Return viewers, groups as indices in `groups`, and numbers of positive rows, for cells
        with any.
        """
        if self.viewer is None:
            raise InputError("Name the column of viewers.")
        some = self.cell_positive > 0
        indices = np.asarray([self.groups.index(name) for name in self.names], np.int64)
        viewer = self.viewer.filter(pa.array(some))
        return viewer, indices[self.group[some]], self.cell_positive[some]

    def days(self) -> "dict[str, TrafficLog]":
        """Return the log split by day, in order."""
        if self.day is None:
            raise InputError("Name the column of days.")
        found = pc.dictionary_encode(self.day).combine_chunks()
        codes = np.asarray(found.indices)
        names = [str(name) for name in found.dictionary.to_pylist()]
        order = sorted(range(len(names)), key=lambda code: names[code])
        return {names[code]: self._where(codes == code) for code in order}

    def _where(self, cells: NDArray[np.bool_]) -> "TrafficLog":
        kept = self.group[cells], self.cell_shown[cells], self.cell_positive[cells]
        viewer = None if self.viewer is None else self.viewer.filter(pa.array(cells))
        return TrafficLog(self.traffic, self.names, *kept, viewer)

    def _named(self, counts: Codes) -> dict[str, int]:
        """Return sums by group, in chunks that fit into a cache."""
        total = np.zeros(len(self.names))
        for start in range(0, len(self.group), _PIECE):
            piece = slice(start, start + _PIECE)
            total += np.bincount(self.group[piece], counts[piece], len(total))
        found = dict(zip(self.names, map(int, total), strict=True))
        return {name: found[name] for name in self.groups}


def read_log(source: Source, columns: Columns, traffic: str) -> TrafficLog:
    """Return a log from a Parquet or CSV file, or from a pandas, Polars or Arrow table."""
    if not columns.labels:
        raise InputError(
            "Name at least one column of labels, for example like,share.", case="no-labels"
        )
    cells = _counted(source, columns)
    if cells is None:
        cells = _rows_as_cells(_open(source, columns, traffic), columns, traffic)
    viewer = cells["viewer"] if columns.viewer else None
    day = cells["day"] if columns.day else None
    codes, names = _groups(cells["group"])
    counts = cells["shown"].to_numpy(), cells["positive"].to_numpy()
    return TrafficLog(traffic, names, codes, *counts, viewer, day)


def _counted(source: Source, columns: Columns) -> pa.Table | None:
    """Return the cells of a Parquet file by Polars, if it is installed and the file has no
    fault.
    """
    path = Path(source) if isinstance(source, str | Path) else None
    if path is None or columns.viewer or path.suffix.lower() in _TEXT or not path.is_file():
        return None
    return count_rows(path, columns.labels, columns.keys)


def _rows_as_cells(table: pa.Table, columns: Columns, traffic: str) -> pa.Table:
    """Return cells of one row each."""
    if not len(table):
        raise InputError(f"There are no rows in {traffic} traffic.", case="no-rows")
    for column in columns.keys.values():
        if table[column].null_count:
            raise InputError(
                f"{table[column].null_count} rows of {traffic} traffic have no value in "
                f"{column!r}. Fill or remove these rows.",
                case="missing-values",
            )
    keys = {name: table[column] for name, column in columns.keys.items()}
    positive = _positive(table, columns.labels, traffic).cast(pa.uint8())
    return pa.table({**keys, "shown": np.ones(len(table), np.uint8), "positive": positive})


def _open(source: Source, columns: Columns, traffic: str) -> pa.Table:
    if not isinstance(source, str | Path):
        return open_columns(source, columns.all)
    path = Path(source)
    if not path.is_file():
        raise InputError(f"There is no file {path} of {traffic} traffic.", case="no-file")
    try:
        if path.suffix.lower() in _TEXT:
            return _csv(path, columns)
        there = pq.read_schema(path).names
        _refuse_lost(columns, there, path)
        return pq.read_table(path, columns=columns.all)
    except pa.ArrowException as error:
        raise InputError(
            f"{path} is neither CSV (by its name) nor Parquet: {error}", case="unreadable"
        ) from error


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
        raise InputError(
            f"There is no column {words} in {path.name}. The columns are: {known}.",
            case="no-such-column",
        )


def _groups(column: pa.ChunkedArray) -> tuple[Codes, tuple[str, ...]]:
    found = pc.dictionary_encode(column).combine_chunks()
    # True and 1 are the same group, however a file writes it.
    values = found.dictionary.to_pylist()
    names = [str(int(value) if isinstance(value, bool) else value) for value in values]
    return np.asarray(found.indices), tuple(names)


def _positive(table: pa.Table, labels: Sequence[str], traffic: str) -> pa.ChunkedArray:
    """Tell whether any of the signals is set."""
    union = _flags(table[labels[0]], labels[0], traffic)
    for name in labels[1:]:
        union = pc.or_(union, _flags(table[name], name, traffic))
    return union


def _flags(column: pa.ChunkedArray, name: str, traffic: str) -> pa.ChunkedArray:
    if column.null_count:
        raise InputError(
            f"{column.null_count} labels {name!r} are missing in {traffic} traffic.",
            case="missing-labels",
        )
    if pa.types.is_boolean(column.type):
        return column
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise InputError(
            f"The labels of {name!r} must be 0 and 1, not of type {column.type}.",
            case="labels-of-another-type",
        )
    ones = pc.equal(column, pa.scalar(1, column.type))
    if not pc.all(pc.or_(ones, pc.equal(column, pa.scalar(0, column.type)))).as_py():
        off = pc.max(column).as_py(), pc.min(column).as_py()
        raise InputError(
            f"The labels of {name!r} must be 0 and 1, but go from {off[1]:g} to {off[0]:g}"
            f" in {traffic} traffic.",
            case="labels-out-of-range",
        )
    return ones
