"""Tables as CSV or Parquet, generated while they are sent.

Parquet holds every value unchanged. CSV is for spreadsheets, which read a text that begins with =,
+, - or @ as a formula: such a text gets an apostrophe before it.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

AT_ONCE = 2_000
Row = Sequence[Any]


def csv_pieces(columns: pa.Schema, rows: Iterable[Row]) -> Iterator[bytes]:
    yield _lines([columns.names])
    for chunk in _chunks(rows):
        yield _lines([_cell(value) for value in row] for row in chunk)


def parquet_pieces(columns: pa.Schema, rows: Iterable[Row]) -> Iterator[bytes]:
    sink = Sink()
    with pq.ParquetWriter(sink, columns, compression="zstd") as writer:
        for chunk in _chunks(rows):
            arrays = [
                pa.array(values, field.type)
                for values, field in zip(zip(*chunk, strict=True), columns, strict=True)
            ]
            writer.write_batch(pa.record_batch(arrays, schema=columns))
            yield sink.take()
    yield sink.take()


class Sink(io.RawIOBase):
    """Buffer for a writer, which is emptied piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._at += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._at

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while chunk := list(islice(left, AT_ONCE)):
        yield chunk


def _lines(rows: Iterable[Sequence[str]]) -> bytes:
    # RFC 4180; with both characters as line end, the writer quotes cells that hold either.
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case Decimal():
            return f"{value:f}"
        case datetime():
            return value.isoformat()
        case str() if value.startswith(("=", "+", "-", "@", "\t", "\r")):
            return f"'{value}"
        case _:
            return str(value)
