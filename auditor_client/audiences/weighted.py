"""People with weights in place of groups: one row per person, in the order of sending.

A weight is the probability that a person is in a group (`auditor_client.demographics`), or 1 for
the group of a hard label. Weights stay on this machine; a two-party audit sends them encrypted.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from auditor_client.audiences.client import NamedAudience
from auditor_client.audiences.identifiers import column_kind, wire_kind
from auditor_client.audiences.tables import GroupMembers, open_columns, tokens_of
from auditor_client.errors import InputError

Floats = NDArray[np.float64]
EVERYONE = "everyone"
TOKEN_BYTES = 32


@dataclass(frozen=True, eq=False)
class Weights:
    """Matrix of weights, with a row for each person and a column for each group."""

    groups: tuple[str, ...]
    shares: Floats = field(repr=False)


@dataclass(frozen=True, eq=False)
class WeightedAudience:
    """An audience without groups at the platform, and the weights of its rows, which stay here."""

    audience: NamedAudience
    weights: Weights
    # For a hidden audience: 32 bytes per row, which a private set intersection compares.
    tokens: bytes | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        return self.audience.id

    @property
    def groups(self) -> tuple[str, ...]:
        return self.weights.groups


def read_weighted(
    frame: Any,
    id: str,  # noqa: A002  (the public word for it)
    groups: Sequence[str] | str,
    *,
    id_kind: str | None = None,
    country: str | None = None,
) -> tuple[GroupMembers, Weights]:
    """Return the members in the order of their identifiers, and their weights.

    `groups` are columns of shares, each named after its group, or one column of hard labels. A
    person who is named in several rows counts as in the first.
    """
    labels = isinstance(groups, str)
    columns = [groups] if isinstance(groups, str) else list(groups)
    table = open_columns(frame, [id, *columns])
    kind = column_kind(id, id_kind)
    tokens = tokens_of(table[id].to_pylist(), np.arange(len(table)), kind, country)
    weights = _of_labels(table[columns[0]]) if labels else _of_shares(table, columns)
    first: dict[str | bytes, int] = {}
    for row, token in enumerate(tokens):
        if token is not None:
            first.setdefault(token, row)
    if not first:
        raise InputError(f"No row has an identifier in {id!r}.", case="no-identifiers")
    order = sorted(first)
    sent = wire_kind(kind)
    array = pa.array(order, pa.string() if sent == "username" else pa.binary(32))
    lost = sum(token is None for token in tokens)
    members = GroupMembers(sent, {EVERYONE: array}, lost, 0, len(tokens) - lost - len(first))
    rows = np.array([first[token] for token in order])
    return members, Weights(weights.groups, weights.shares[rows])


def hidden_rows(tokens: bytes, weights: Weights, rows: int | None) -> tuple[bytes, Weights]:
    """Return tokens and weights in random order, padded to `rows` with random tokens.

    The platform learns which rows matched. In identifier order, it would learn between which of its
    people each other row lies. Padding at the end would show the number of padding rows.
    """
    people = len(weights.shares)
    lacking = 0 if rows is None else rows - people
    if lacking < 0:
        raise InputError(
            f"{people} people are named, more than rows={rows}. Nothing was sent. Give at "
            "least that number of rows."
        )
    padded = tokens + secrets.token_bytes(TOKEN_BYTES * lacking)
    shares = np.pad(weights.shares, ((0, lacking), (0, 0)))
    order = list(range(people + lacking))
    secrets.SystemRandom().shuffle(order)
    shuffled = np.frombuffer(padded, np.uint8).reshape(-1, TOKEN_BYTES)[order]
    return shuffled.tobytes(), Weights(weights.groups, shares[order])


def _of_shares(table: pa.Table, columns: list[str]) -> Weights:
    shares = np.column_stack([np.asarray(table[name].cast(pa.float64())) for name in columns])
    shares = np.nan_to_num(shares)
    if shares.min(initial=0) < 0 or shares.sum(axis=1).max(initial=0) > 1 + 1e-9:
        raise InputError(
            f"Shares in {', '.join(columns)} must be from 0 to 1, with a sum of at most 1 "
            "in each row.",
            case="shares-above-one",
        )
    return Weights(tuple(columns), shares)


def _of_labels(column: pa.ChunkedArray) -> Weights:
    """Return weight 1 for each row's label; a row without a label is in no group."""
    words = [None if value is None else str(value) for value in column.to_pylist()]
    names = sorted({word for word in words if word is not None})
    if not names:
        raise InputError("No row has a label.")
    columns = {name: column for column, name in enumerate(names)}
    shares = np.zeros((len(words), len(names)))
    for row, word in enumerate(words):
        if word is not None:
            shares[row, columns[word]] = 1.0
    return Weights(tuple(names), shares)
