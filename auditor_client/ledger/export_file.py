"""Exports as files: read line by line, and verified without a service."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from auditor_client.errors import LedgerError
from auditor_client.ledger.seen_checkpoints import remember, seen
from privacy.errors import EvidenceError
from privacy.ledger.trust import Trust
from privacy.ledger.verify import Verified, verify
from privacy.receipts import canonical


def verify_file(
    path: str | Path, trust: Trust, *, witnessed: Iterable[str] = (), memory: bool = True
) -> Verified:
    """Check an export, also against checkpoints seen earlier; store its checkpoint unless `memory`
    is off.
    """
    path = Path(path)
    lines = _parquet(path) if _is_parquet(path) else _lines(path)
    before = seen(trust.origin) if memory else []
    try:
        header = next(lines, b"")
        found = verify(header, lines, trust, seen=before, witnessed=witnessed)
    except EvidenceError as error:
        raise LedgerError(f"{path}: {error}.", case=error.case) from error
    if memory:
        remember(trust.origin, found.note)
    return found


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _parquet(path: Path) -> Iterator[bytes]:
    try:
        file = pq.ParquetFile(path)
        metadata = file.schema_arrow.metadata or {}
        yield canonical(json.loads(metadata[b"header"]))
        for batch in file.iter_batches(columns=["line"]):
            yield from (line.encode() for line in batch.column(0).to_pylist())
    except (pa.ArrowException, KeyError, ValueError, AttributeError) as error:
        raise LedgerError(f"{path} is not an export of a ledger: {error}.") from error
