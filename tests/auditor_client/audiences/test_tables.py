from hashlib import sha256
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from auditor_client.audiences.tables import read_members
from auditor_client.errors import InputError
from tests.refusals import refuses

ROWS: dict[str, list[Any]] = {
    "email": ["a@x.org", "B@x.org ", "b@x.org", None, "c@x.org", "d@x.org"],
    "gender": ["woman", "man", "man", "man", "woman", "woman"],
    "race": ["black", "white", "white", "white", "white", "white"],
    "qualified": [True, True, True, True, True, False],
}


def hashes(*addresses: str) -> list[bytes]:
    return sorted(sha256(address.encode()).digest() for address in addresses)


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table],
    ids=["pandas", "polars", "lazy", "arrow"],
)
def test_every_kind_of_frame_gives_the_same_members(make: Any) -> None:
    members = read_members(make(ROWS), "email", "gender", "qualified")
    assert members.kind == "email_sha256"
    assert members.groups["woman"].to_pylist() == hashes("a@x.org", "c@x.org")
    assert members.groups["man"].to_pylist() == hashes("b@x.org")
    assert (members.without_identifier, members.repeated) == (1, 1)
    assert members.notes() == [
        "1 rows had no identifier and were dropped.",
        "1 rows repeated somebody who was in the group already.",
    ]


def test_several_columns_intersect() -> None:
    members = read_members(pa.table(ROWS), "email", ["gender", "race"])
    assert list(members.groups) == ["man × white", "woman × black", "woman × white"]


def test_names_that_would_meet_are_refused() -> None:
    frame = pa.table({"username": ["a", "b"], "x": ["1 × 2", "1"], "y": ["3", "2 × 3"]})
    with refuses(InputError, "equal-names"):
        read_members(frame, "username", ["x", "y"])


def test_order_of_rows_makes_no_difference() -> None:
    frame = pa.table(ROWS)
    turned = frame.take(pa.array([5, 4, 3, 2, 1, 0]))
    one, other = (read_members(table, "email", "gender") for table in (frame, turned))
    assert one.groups == other.groups


def test_missing_groups_are_refused_unless_dropped() -> None:
    frame = pd.DataFrame({"username": ["a", "b", "c"], "gender": ["man", None, float("nan")]})
    with refuses(InputError, "missing-values", 2, "gender"):
        read_members(frame, "username", "gender")
    members = read_members(frame, "username", "gender", missing_groups="drop")
    assert (members.total, members.without_group) == (1, 2)


def test_a_group_of_nobody_is_refused() -> None:
    frame = pa.table({"username": ["a", None], "gender": ["man", "woman"]})
    with refuses(InputError, "no-identifiers", "woman"):
        read_members(frame, "username", "gender")


def test_a_bad_identifier_names_its_row_and_not_its_value() -> None:
    frame = pa.table({"email": ["a@x.org", "secret", "b@x.org"], "g": ["1", "1", "2"]})
    with refuses(InputError, "malformed-identifier", "Row 1") as caught:
        read_members(frame, "email", "g")
    assert "secret" not in str(caught.value)


def test_the_row_is_that_of_the_whole_frame() -> None:
    frame = pa.table({"email": ["a@x.org", "no"], "g": ["1", "1"], "w": [False, True]})
    with refuses(InputError, "malformed-identifier", "Row 1"):
        read_members(frame, "email", "g", "w")


def test_where_must_be_true_and_false() -> None:
    frame = pa.table({"username": ["a"], "g": ["1"], "w": [1]})
    with refuses(InputError, "not-boolean"):
        read_members(frame, "username", "g", "w")


def test_an_unknown_column_lists_those_there() -> None:
    with refuses(InputError, "no-such-column", "'mail'", "email, gender, race, qualified"):
        read_members(pa.table(ROWS), "mail", "gender")


def test_what_is_no_table_is_refused() -> None:
    with refuses(InputError, "not-a-table", "pandas", "Polars", "Arrow"):
        read_members([1, 2], "email", "gender")


def test_binary_hashes_are_taken_as_they_are() -> None:
    digest = sha256(b"a@x.org").digest()
    frame = pa.table({"email_sha256": pa.array([digest], pa.binary(32)), "g": ["1"]})
    assert read_members(frame, "email_sha256", "g").groups["1"].to_pylist() == [digest]
