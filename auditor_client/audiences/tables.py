"""Members of each group, read from a data frame (pandas, Polars or Arrow).

The members of a group are sorted and unique. So the order of rows tells the platform nothing, and
an upload can be resumed from a frame in another order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from auditor_client.audiences.clusters import Clusters, clusters_of
from auditor_client.audiences.identifiers import ColumnKind, column_kind, normaliser, wire_kind
from auditor_client.audiences.labels import join_name
from auditor_client.errors import InputError
from openapi.resources import IdentifierKind

Missing = Literal["refuse", "drop"]
Columns = str | Sequence[str]


@dataclass(frozen=True)
class GroupMembers:
    """Members of each group by name, and the dropped rows. They stay on this machine."""

    kind: IdentifierKind
    groups: dict[str, pa.Array]
    without_identifier: int = 0
    without_group: int = 0
    repeated: int = 0
    clusters: Clusters | None = None

    @property
    def total(self) -> int:
        return sum(len(members) for members in self.groups.values())

    def notes(self) -> list[str]:
        """Return sentences about the dropped rows."""
        counts = {
            "had no identifier and were dropped": self.without_identifier,
            "had no group and were dropped": self.without_group,
            "repeated somebody who was in the group already": self.repeated,
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
    cluster: str | None = None,
    correlation: float = 1.0,
) -> GroupMembers:
    """Return the members of a frame, with identifiers from column `id`, grouped by column(s) `by`.

    `where` names a column of true and false; only true rows count. `cluster` names a column of
    people who were recruited together, `correlation` how much they are alike at most.
    """
    columns = [by] if isinstance(by, str) else list(by)
    table = open_columns(frame, [id, *columns, *filter(None, (where, cluster))])
    kind = column_kind(id, id_kind)
    rows = _chosen(table, where)
    table = table.take(pa.array(rows))
    names = _names(table, columns)
    homeless = sum(name is None for name in names)
    if missing_groups == "refuse" and homeless:
        raise InputError(
            f"{homeless} rows have no value in {', '.join(columns)}. Fill them, or drop "
            "them with missing_groups='drop'.",
            case="missing-values",
        )
    tokens = tokens_of(table[id].to_pylist(), rows, kind, country)
    found = _grouped(kind, names, tokens)
    if cluster is None:
        return found
    values = table[cluster].to_pylist()
    return replace(found, clusters=clusters_of(names, tokens, values, correlation))


def open_columns(frame: Any, columns: list[str]) -> pa.Table:
    """Return the needed columns as an Arrow table, in which a missing value is always null."""
    try:
        table = nw.from_native(frame)
    except TypeError as error:
        raise InputError("Give a pandas, Polars or Arrow table.", case="not-a-table") from error
    there = table.collect_schema().names()
    lost = [column for column in columns if column not in there]
    if lost:
        known = ", ".join(map(str, there))
        raise InputError(
            f"There is no column {', '.join(map(repr, lost))}. The columns are: {known}.",
            case="no-such-column",
        )
    chosen = table.select(*dict.fromkeys(columns))
    try:
        return (chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen).to_arrow()
    except pa.ArrowException as error:
        raise InputError(f"A column holds values of different types: {error}") from error


def _chosen(table: pa.Table, where: str | None) -> NDArray[np.int64]:
    """Return the numbers of the rows that count."""
    if where is None:
        return np.arange(len(table))
    if not pa.types.is_boolean(table[where].type):
        raise InputError(f"Column {where!r} must hold true and false only.", case="not-boolean")
    return np.flatnonzero(table[where].fill_null(False).to_numpy())


def _names(table: pa.Table, columns: list[str]) -> list[str | None]:
    """Return the name of each row's group; None where a part of the name is missing."""
    keys = list(zip(*(table[column].to_pylist() for column in columns), strict=True))
    name_of = {key: None if any(map(_absent, key)) else join_name(key) for key in set(keys)}
    names = [name for name in name_of.values() if name is not None]
    if len(names) != len(set(names)):
        raise InputError(
            f"Different values of {', '.join(columns)} have the same name.", case="equal-names"
        )
    return [name_of[key] for key in keys]


def _absent(value: object) -> bool:
    return value is None or value != value or not str(value).strip()


def tokens_of(
    values: list[object], rows: NDArray[np.int64], kind: ColumnKind, country: str | None
) -> list[str | bytes | None]:
    """Return the token to send for each value, None for a missing one.

    `rows` are the row numbers for error messages.
    """
    normalise = normaliser(kind, country)
    tokens: list[str | bytes | None] = []
    try:
        for value in values:
            tokens.append(normalise(value))  # noqa: PERF401  (the length says where it stopped)
    except InputError as error:
        row = rows[len(tokens)]
        raise InputError(
            f"Row {row} (the first is 0), column of {kind}: {error}.", case="malformed-identifier"
        ) from error
    return tokens


def _grouped(
    kind: ColumnKind, names: list[str | None], tokens: list[str | bytes | None]
) -> GroupMembers:
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
        raise InputError(
            f"No row of {', '.join(empty)} has an identifier: leave the group out.",
            case="no-identifiers",
        )
    sent = wire_kind(kind)
    arrow = pa.string() if sent == "username" else pa.binary(32)
    arrays = {name: pa.array(sorted(groups[name]), arrow) for name in sorted(groups)}
    return GroupMembers(sent, arrays, without_identifier, without_group, repeated)
