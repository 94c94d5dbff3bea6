"""The ledger as a file: everything a verifier needs beside the keys, streamed.

Entries up to the newest signed head, in the bytes that were hashed. An auditor gets its own, each
with the path to that head.
"""

import base64
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Literal

import pyarrow as pa
from sqlmodel import col, select

from api.errors import NotSignedError
from api.ledger.checkpoints import latest
from api.ledger.sight import visible_to
from api.ledger.tree import tree
from api.store import CheckpointRow, EntryRow, Store
from api.streams import parquet_pieces
from privacy.ledger import merkle
from privacy.ledger.tiles import Tree
from privacy.receipts import canonical

Format = Literal["jsonl", "parquet"]
FORMAT = "platform-auditor/ledger/v1"
AT_ONCE = 2_000
COLUMNS = pa.schema(
    [
        ("number", pa.int64()),
        ("at", pa.timestamp("us", tz="UTC")),
        ("kind", pa.string()),
        ("auditor", pa.string()),
        ("line", pa.string()),
    ]
)
# Number, time, kind, auditor, and the line of the file.
Line = tuple[int, datetime, str, str | None, str]
LINE = (EntryRow.number, EntryRow.at, EntryRow.kind, EntryRow.auditor_id, EntryRow.text)


def export(
    store: Store, origin: str, auditor_id: str | None, written_as: Format
) -> Iterator[bytes]:
    """The file, piece by piece. Read at leisure: what is below a signed head never changes."""
    header = _header(store, origin, auditor_id)
    chunks = _chunks(store, header["size"], auditor_id)
    return _parquet(header, chunks) if written_as == "parquet" else _lines(header, chunks)


def _header(store: Store, origin: str, auditor_id: str | None) -> dict[str, Any]:
    with store.snapshot() as session:
        head = latest(session)
        if head is None:
            raise NotSignedError("nothing is signed yet; ask again in a few seconds")
        kept = select(CheckpointRow).where(
            col(CheckpointRow.lasting), col(CheckpointRow.size) < head.size
        )
        notes = [row.note for row in session.exec(kept.order_by(col(CheckpointRow.size)))]
    header = {
        "format": FORMAT,
        "origin": origin,
        "size": head.size,
        "checkpoints": [*notes, head.note],
    }
    return header | ({"auditor": auditor_id} if auditor_id else {})


def _chunks(store: Store, size: int, auditor_id: str | None) -> Iterator[list[Line]]:
    after = -1
    while True:
        number = col(EntryRow.number)
        columns = select(*LINE).where(number > after, number < size, *visible_to(auditor_id))  # type: ignore[call-overload]
        with store.read() as session:
            rows = session.exec(columns.order_by(number).limit(AT_ONCE)).all()
            if not rows:
                return
            known = tree(session)
            yield [tuple(row) if auditor_id is None else _proved(row, size, known) for row in rows]
        after = rows[-1][0]


def _proved(row: Sequence[Any], size: int, known: Tree) -> Line:
    number, at, kind, auditor_id, text = row
    path = merkle.inclusion_path(number, size, known.subtree)
    hashes = [base64.b64encode(each).decode() for each in path]
    line = canonical({"entry": text, "path": hashes}).decode()
    return number, at, kind, auditor_id, line


def _lines(header: dict[str, Any], chunks: Iterator[list[Line]]) -> Iterator[bytes]:
    yield canonical(header) + b"\n"
    for chunk in chunks:
        yield "".join(f"{line}\n" for *_, line in chunk).encode()


def _parquet(header: dict[str, Any], chunks: Iterator[list[Line]]) -> Iterator[bytes]:
    columns = COLUMNS.with_metadata({"header": json.dumps(header)})
    return parquet_pieces(columns, (line for chunk in chunks for line in chunk))
