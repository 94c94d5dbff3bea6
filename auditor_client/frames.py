"""From a data frame (pandas, Polars or Arrow) to the members of each group.

Within a group, members are sorted and each is there once: the order of rows tells the platform
nothing, and an upload can be resumed from a frame in another order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from auditor_client.errors import InputError
from auditor_client.identifiers import ColumnKind, column_kind, normaliser, wire_kind
from auditor_client.labels import joined_name
from openapi.models import IdentifierKind

Missing = Literal["refuse", "drop"]
Columns = str | Sequence[str]


@dataclass(frozen=True)
class Members:
    """Who is in each group, by name, and what was left out on the way. It stays on this machine."""

    kind: IdentifierKind
    groups: dict[str, pa.Array]
    without_identifier: int = 0
    without_group: int = 0
    repeated: int = 0

    @property
    def total(self) -> int:
        return sum(len(members) for members in self.groups.values())

    def notes(self) -> list[str]:
        """What was left out, in words."""
        counts = {
            "had no identifier and were dropped": self.without_identifier,
            "had no group and were dropped": self.without_group,
            "named somebody who was in the group already": self.repeated,
        }
        return [f"{count} rows {words}." for words, count in counts.items() if count]


def read_members(
    frame: Any,
    id: str,  # noqa: A002  (the public word for it)
    by: Columns,
    where: str | None = None,
    *,
    id_kind: str | None = None,
    country: str | None = None,
    missing_groups: Missing = "refuse",
) -> Members:
    """The members of a frame: identifiers of column `id`, in groups by the column(s) `by`.

    `where` names a column of true and false: only true rows count.
    """
    table = _open(frame)
    columns = [by] if isinstance(by, str) else list(by)
    _require(table, [id, *columns, *([where] if where else [])])
    kind = column_kind(id, id_kind)
    rows = _chosen(table, where)
    names = _names(table, columns, rows)
    has_group = np.array([name is not None for name in names], dtype=bool)
    if missing_groups == "refuse" and not has_group.all():
        raise InputError(
            f"{np.count_nonzero(~has_group)} rows have no value in {', '.join(columns)}."
            " Fill them, or leave them out with missing_groups='drop'."
        )
    tokens = _tokens(table[id].to_list(), rows, kind, country)
    return _grouped(kind, names, tokens)


def _open(frame: Any) -> nw.DataFrame[Any]:
    try:
        table = nw.from_native(frame)
    except TypeError as error:
        raise InputError("Give a pandas, Polars or Arrow table.") from error
    return table.collect() if isinstance(table, nw.LazyFrame) else table


def _require(table: nw.DataFrame[Any], columns: list[str]) -> None:
    lost = [column for column in columns if column not in table.columns]
    if lost:
        there = ", ".join(map(str, table.columns))
        raise InputError(f"There is no column {', '.join(map(repr, lost))}; there are: {there}.")


def _chosen(table: nw.DataFrame[Any], where: str | None) -> NDArray[np.int64]:
    """Numbers of the rows that count."""
    if where is None:
        return np.arange(len(table))
    values = table[where].to_list()
    if not all(value is None or isinstance(value, bool | np.bool_) for value in values):
        raise InputError(f"Column {where!r} must hold true and false only.")
    return np.flatnonzero([value is not None and bool(value) for value in values])


def _names(
    table: nw.DataFrame[Any], columns: list[str], rows: NDArray[np.int64]
) -> list[str | None]:
    """The name of the group of each row that counts, None where a part of it is missing."""
    values = list(zip(*(table[column].to_list() for column in columns), strict=True))
    keys = [values[row] for row in rows]
    name_of = {key: None if any(map(_absent, key)) else joined_name(key) for key in set(keys)}
    names = [name for name in name_of.values() if name is not None]
    if len(names) != len(set(names)):
        raise InputError(f"Different values of {', '.join(columns)} have the same name.")
    return [name_of[key] for key in keys]


def _absent(value: object) -> bool:
    return value is None or value != value or not str(value).strip()


def _tokens(
    values: list[object], rows: NDArray[np.int64], kind: ColumnKind, country: str | None
) -> list[str | bytes | None]:
    """What is sent for each row that counts, None where it has no identifier."""
    normalise = normaliser(kind, country)
    tokens = []
    for row in rows:
        try:
            tokens.append(normalise(values[row]))
        except InputError as error:
            raise InputError(f"Row {row} (the first is 0), column of {kind}: {error}.") from error
    return tokens


def _grouped(
    kind: ColumnKind, names: list[str | None], tokens: list[str | bytes | None]
) -> Members:
    groups: dict[str, set[str | bytes]] = {name: set() for name in names if name is not None}
    without_identifier = without_group = repeated = 0
    for name, token in zip(names, tokens, strict=True):
        if name is None:
            without_group += 1
        elif token is None:
            without_identifier += 1
        elif token in groups[name]:
            repeated += 1
        else:
            groups[name].add(token)
    empty = sorted(name for name, members in groups.items() if not members)
    if empty:
        raise InputError(f"No row of {', '.join(empty)} has an identifier: leave the group out.")
    sent = wire_kind(kind)
    arrow = pa.string() if sent == "username" else pa.binary(32)
    arrays = {name: pa.array(sorted(groups[name]), arrow) for name in sorted(groups)}
    return Members(sent, arrays, without_identifier, without_group, repeated)
