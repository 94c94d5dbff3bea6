"""Entries appended to the ledger, each in its own transaction, with checkpoints signed in between.

The floor is the same number of rows and transactions by the same ORM, with the same columns and
texts of equal length. Ours adds the ledger's lock and clock, the canonical text and its check, the
leaf's hash, the tree, and the signed checkpoints.
"""

import secrets
import tempfile
from datetime import datetime
from itertools import count
from pathlib import Path

from sqlmodel import Field

from api.app.compose import make_simulated_platform
from api.kernel.clock import now
from api.ledger import append
from bench.bare import Bare
from bench.harness import Figure, compare
from bench.hosted import Hosted, hosted
from privacy.receipts import digest

COMMAND = "python -m bench appends"
ENTRIES = 400
# a checkpoint every few tenths of a second; the service signs one every five seconds
SIGNED_EVERY = 100


class BareRow(Bare, table=True):
    """Row with the columns of an entry, without their meaning."""

    __tablename__ = "bench_rows"

    number: int = Field(primary_key=True)
    kind: str
    auditor_id: str
    text: str
    leaf: bytes
    at: datetime


def run() -> list[Figure]:
    with (
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), make_simulated_platform(people=1_000)) as host,
    ):
        Bare.metadata.create_all(host.service.store.engine)
        return [
            compare(
                f"{ENTRIES} entries appended and signed; compared with bare inserts",
                lambda: appended(host, ENTRIES),
                lambda: _inserted(host, ENTRIES),
                goal="≤ 2",
                command=COMMAND,
            )
        ]


def appended(host: Hosted, entries: int) -> None:
    """Append entries like those of an upload, each in its own transaction."""
    checkpoints = host.service.checkpointer()
    for number in range(entries):
        with host.service.store.write() as session:
            append(session, "content", _facts(host), host.auditor.auditor)
        if number % SIGNED_EVERY == 0:
            checkpoints.once()


def _facts(host: Hosted) -> dict[str, str]:
    named = f"content_{secrets.token_hex(15)}"
    return {"content_id": named, "digest": digest(b"content"), "by": host.auditor.researcher_id}


_numbers = count()


def _inserted(host: Hosted, entries: int) -> None:
    text = "x" * 300
    for _ in range(entries):
        row = BareRow(
            number=next(_numbers),
            kind="content",
            auditor_id=host.auditor.auditor,
            text=text,
            leaf=secrets.token_bytes(32),
            at=now(),
        )
        with host.service.store.write() as session:
            session.add(row)
