"""Entries: the bytes of one record of the ledger.

An entry is canonical JSON (RFC 8785) without floats, so every JSON library that sorts keys reads
and writes the same bytes. `docs/reference/ledger.md` lists the kinds and their facts.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from privacy.ledger.statements import Statement
from privacy.receipts import canonical

# Format of charges and audiences that state it, and of those that state none.
FORMAT = 3
OLDER = 2


def encode(
    number: int,
    at: datetime,
    kind: str,
    auditor: str | None,
    facts: Mapping[str, Any],
    statement: Statement | None = None,
) -> bytes:
    entry = {
        "number": number,
        "at": format_instant(at),
        "kind": kind,
        "auditor": auditor,
        "facts": dict(facts),
    }
    if statement is not None:
        entry["statement"] = statement.record()
    return canonical(entry)


def format_instant(moment: datetime) -> str:
    """Return a moment in UTC as text of fixed length, so that text sorts by time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
