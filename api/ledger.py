"""The ledger: append-only entries, written in the transaction of what they record.

An entry is canonical JSON (RFC 8785) and the digest of those bytes. Every append locks the head, so
that entries are numbered from 0 without gaps, in the order in which they were committed.
"""

import json
from collections.abc import Mapping
from typing import Any

from sqlmodel import Session, select

from api.clock import now
from api.store import EntryRow, HeadRow
from openapi.models import Entry
from privacy.receipts import canonical, digest


def append(
    session: Session, kind: str, body: Mapping[str, Any], auditor_id: str | None = None
) -> EntryRow:
    """Write one entry; it is there if and only if the transaction commits."""
    head = session.exec(select(HeadRow).with_for_update()).one()
    text = canonical({"kind": kind, **body})
    last = session.get(EntryRow, head.size - 1)
    entry = EntryRow(
        number=head.size,
        kind=kind,
        auditor_id=auditor_id,
        body=text.decode(),
        digest=digest(text),
        # Whatever the clocks do, the ledger's time does not run backwards.
        written_at=max(now(), last.written_at) if last else now(),
    )
    head.size += 1
    session.add_all([head, entry])
    return entry


def view(row: EntryRow) -> Entry:
    return Entry(
        number=row.number,
        kind=row.kind,
        auditor_id=row.auditor_id,
        body=json.loads(row.body),
        digest=row.digest,
        written_at=row.written_at,
    )
