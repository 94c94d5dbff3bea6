"""Tables as they are sent: in pieces, in CSV as people read them, in Parquet as they are."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from api.web.table_streaming import AT_ONCE, csv_pieces, parquet_pieces

COLUMNS = pa.schema(
    [
        ("text", pa.string()),
        ("amount", pa.decimal128(38, 13)),
        ("at", pa.timestamp("us", tz="UTC")),
        ("day", pa.date32()),
        ("yes", pa.bool_()),
        ("count", pa.int64()),
    ]
)
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
ROW = ("a, b", Decimal("0.0000000000005"), NOW, date(2026, 5, 4), True, 7)
NOTHING: tuple[Any, ...] = (None,) * 6


def test_csv_is_as_people_read_it() -> None:
    text = b"".join(csv_pieces(COLUMNS, [ROW, NOTHING])).decode()
    names, row, nothing = csv.reader(io.StringIO(text))
    assert names == COLUMNS.names
    instant = "2026-05-04T12:00:00+00:00"
    assert row == ["a, b", "0.0000000000005", instant, "2026-05-04", "true", "7"]
    assert nothing == [""] * 6


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_a_text_that_looks_like_a_formula_is_marked(begin: str) -> None:
    text = b"".join(csv_pieces(COLUMNS, [(begin + "SUM(A1)", *NOTHING[1:])])).decode()
    _, [cell, *_] = csv.reader(io.StringIO(text, newline=""))
    assert cell == f"'{begin}SUM(A1)"


def test_parquet_is_exact() -> None:
    table = pq.read_table(io.BytesIO(b"".join(parquet_pieces(COLUMNS, [ROW, NOTHING]))))
    assert [tuple(row.values()) for row in table.to_pylist()] == [ROW, NOTHING]
    assert len(pq.read_table(io.BytesIO(b"".join(parquet_pieces(COLUMNS, []))))) == 0


@pytest.mark.parametrize("pieces", [csv_pieces, parquet_pieces])
def test_rows_are_read_as_they_are_sent(pieces: Any) -> None:
    read = 0

    def rows() -> Iterator[tuple[Any, ...]]:
        nonlocal read
        for _ in range(5 * AT_ONCE):
            read += 1
            yield ROW

    sent = pieces(COLUMNS, rows())
    next(sent)
    assert read <= AT_ONCE
    rest = list(sent)
    assert len(rest) >= 5
    assert read == 5 * AT_ONCE
