"""Export of the ledger as a stream: everything that a verifier needs except the keys.

It has the entries up to the newest checkpoint, in the bytes that were hashed. An auditor gets their
own entries, each with the path to that checkpoint, and the paths from older checkpoints to it.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal

import pyarrow as pa
from sqlmodel import col, select

from api.db import CheckpointRow, EntryRow, Store
from api.kernel.errors import NotSignedError
from api.ledger.checkpoints import load_latest
from api.ledger.proofs import encode_path
from api.ledger.tree import load_tree
from api.ledger.visibility import is_visible_to
from api.web.table_streaming import parquet_pieces
from privacy.ledger import merkle
from privacy.ledger.export_header import FORMAT
from privacy.ledger.tiles import Tree
from privacy.receipts import canonical

Format = Literal["jsonl", "parquet"]
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
    store: Store,
    origin: str,
    auditor_id: str | None,
    written_as: Format,
    seen: Collection[int] = (),
) -> Iterator[bytes]:
    """Yield the file in pieces; slow reading is safe, because entries below a checkpoint never
    change.

    `seen` are sizes of checkpoints; the export of an auditor proves that it continues them.
    """
    header = _header(store, origin, auditor_id, seen)
    chunks = _chunks(store, header["size"], auditor_id)
    return _parquet(header, chunks) if written_as == "parquet" else _lines(header, chunks)


def _header(
    store: Store, origin: str, auditor_id: str | None, seen: Collection[int]
) -> dict[str, Any]:
    with store.snapshot() as session:
        head = load_latest(session)
        if head is None:
            raise NotSignedError("There is no checkpoint yet. Try again in a few seconds.")
        kept = select(CheckpointRow).where(
            col(CheckpointRow.lasting), col(CheckpointRow.size) < head.size
        )
        rows = session.exec(kept.order_by(col(CheckpointRow.size))).all()
        header = {
            "format": FORMAT,
            "origin": origin,
            "size": head.size,
            "checkpoints": [row.note for row in (*rows, head)],
        }
        if auditor_id is None:
            return header
        older = {size for size in (*seen, *(row.size for row in rows)) if 0 < size < head.size}
        return header | {
            "auditor": auditor_id,
            "consistency": _continued(older, head.size, load_tree(session)),
        }


def _continued(older: Collection[int], size: int, known: Tree) -> dict[str, list[str]]:
    """Return the paths from older sizes to the newest, for readers who do not see all entries."""
    return {
        str(old): encode_path(merkle.consistency_path(old, size, known.subtree))
        for old in sorted(older)
    }


def _chunks(store: Store, size: int, auditor_id: str | None) -> Iterator[list[Line]]:
    after = -1
    while True:
        number = col(EntryRow.number)
        columns = select(*LINE).where(number > after, number < size, *is_visible_to(auditor_id))  # type: ignore[call-overload]
        with store.read() as session:
            rows = session.exec(columns.order_by(number).limit(AT_ONCE)).all()
            if not rows:
                return
            known = load_tree(session)
            lines = [
                tuple(row) if auditor_id is None else _proved(row, size, known) for row in rows
            ]
        # Outside the block: a reader may be slow, and no connection must wait for one.
        yield lines
        after = rows[-1][0]


def _proved(row: Sequence[Any], size: int, known: Tree) -> Line:
    number, at, kind, auditor_id, text = row
    path = encode_path(merkle.inclusion_path(number, size, known.subtree))
    line = canonical({"entry": text, "path": path}).decode()
    return number, at, kind, auditor_id, line


def _lines(header: dict[str, Any], chunks: Iterator[list[Line]]) -> Iterator[bytes]:
    yield canonical(header) + b"\n"
    for chunk in chunks:
        yield "".join(f"{line}\n" for *_, line in chunk).encode()


def _parquet(header: dict[str, Any], chunks: Iterator[list[Line]]) -> Iterator[bytes]:
    columns = COLUMNS.with_metadata({"header": json.dumps(header)})
    return parquet_pieces(columns, (line for chunk in chunks for line in chunk))
