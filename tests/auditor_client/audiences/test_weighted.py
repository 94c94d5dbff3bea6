"""People with weights: in the order of their identifiers, each once, and nobody is lost."""

import numpy as np
import pyarrow as pa
import pytest

from auditor_client import InputError
from auditor_client.audiences.weighted import EVERYONE, Weights, hidden_rows, read_weighted
from tests.refusals import refuses


def test_shares_follow_their_people_into_the_order_that_is_sent() -> None:
    table = pa.table(
        {"username": ["zoe", "ada", None, "Ada"], "a": [0.1, 0.7, 0.5, 0.9], "b": [0.9, 0.3, 0, 0]}
    )
    members, weights = read_weighted(table, "username", ["a", "b"])
    assert members.groups[EVERYONE].to_pylist() == ["ada", "zoe"]
    assert weights.groups == ("a", "b")
    # Who is named twice counts as in the first of their rows.
    assert np.array_equal(weights.shares, [[0.7, 0.3], [0.1, 0.9]])
    assert (members.without_identifier, members.repeated) == (1, 1)


def test_labels_become_ones_and_no_label_is_no_group() -> None:
    table = pa.table({"username": ["c", "a", "b"], "group": ["y", "x", None]})
    _, weights = read_weighted(table, "username", "group")
    assert weights.groups == ("x", "y")
    assert np.array_equal(weights.shares, [[1, 0], [0, 0], [0, 1]])


def test_shares_that_cannot_be_are_refused() -> None:
    for a, b in ((0.7, 0.4), (-0.1, 0.5)):
        table = pa.table({"username": ["ada"], "a": [a], "b": [b]})
        with refuses(InputError, "shares-above-one"):
            read_weighted(table, "username", ["a", "b"])
    with refuses(InputError, "no-identifiers"):
        read_weighted(pa.table({"username": [""], "a": [1.0]}), "username", ["a"])


def test_hidden_rows_are_padded_and_in_random_order() -> None:
    tokens = [bytes([i]) * 32 for i in range(60)]
    weights = Weights(("a", "b"), np.column_stack([np.arange(60), 60 - np.arange(60)]) / 60)
    orders = []
    for _ in range(2):
        joined, shares = hidden_rows(b"".join(tokens), weights, 80)
        rows = [joined[start : start + 32] for start in range(0, len(joined), 32)]
        assert len(set(rows)) == len(shares.shares) == 80
        for row, share in zip(rows, shares.shares, strict=True):
            expected = weights.shares[tokens.index(row)] if row in tokens else [0, 0]
            assert share.tolist() == list(expected)
        orders.append([rows.index(token) for token in tokens])
    # An order by chance the same, rising, or without padding among the first: below 1e-15.
    assert orders[0] != orders[1]
    assert sorted(orders[0]) != orders[0]
    assert max(orders[0]) >= 60


def test_rows_must_hold_the_people_named() -> None:
    weights = Weights(("a",), np.ones((3, 1)))
    tokens = bytes(range(96))
    joined, whole = hidden_rows(tokens, weights, None)
    assert (len(joined), len(whole.shares)) == (96, 3)
    with pytest.raises(InputError):
        hidden_rows(tokens, weights, 2)
