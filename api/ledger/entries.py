"""Entries, written in the transaction of what they record.

Whoever will append locks the head first: entries are numbered from 0 without gaps in the order in
which they are committed, and two who both append cannot wait for each other.
"""

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from sqlalchemy import bindparam, event
from sqlalchemy.orm.attributes import set_committed_value
from sqlmodel import Session, and_, col, select

from api.clock import now
from api.errors import IdempotencyConflictError, InvalidRequestError, UnsignedError
from api.ledger import tree
from api.store import EntryRow, HeadRow, ResearcherRow, StatementRow, change, find, insert
from openapi.models import Entry
from privacy.errors import EvidenceError
from privacy.ledger.entries import encode
from privacy.ledger.lines import parse
from privacy.ledger.merkle import leaf_hash
from privacy.ledger.statements import Statement, head_of

# In a session: the time of the head that it has locked, which is not written yet.
_MOVED = "books' time moved"
_IS_MAKER = col(ResearcherRow.id) == bindparam("maker")
_WAS_MADE = and_(
    col(StatementRow.by) == bindparam("maker"), col(StatementRow.key) == bindparam("key")
)
# One row, as there is one head: who makes a statement, and the entry that was made by its key.
_STATED = (
    select(
        ResearcherRow.id,
        ResearcherRow.key_thumbprint,
        ResearcherRow.removed_at,
        StatementRow.number,
    )
    .select_from(HeadRow)
    .outerjoin(ResearcherRow, _IS_MAKER)
    .outerjoin(StatementRow, _WAS_MADE)
)


def lock(session: Session) -> datetime:
    """Take the lock that orders all entries and charges, and move the books' time on.

    The time is written with the entry that follows, or when the transaction ends without one.
    """
    head = _locked(session)
    if (at := now()) > head.latest:
        set_committed_value(head, "latest", at)
        session.info[_MOVED] = at
    return head.latest


def append(
    session: Session,
    kind: str,
    facts: Mapping[str, Any],
    auditor_id: str | None = None,
    statement: Statement | None = None,
    *,
    at: datetime | None = None,
) -> EntryRow:
    """Write one entry; it is there if and only if the transaction commits.

    `at` is the time that `lock` gave, for what must happen at one moment of the books.
    """
    session.flush()  # what the entry records may be refused
    head = _locked(session)
    at = max(head.latest, at or now())
    number = head.size
    if statement is not None:
        _state(session, statement, number)
    data = _readable(encode(number, at, kind, auditor_id, facts, statement))
    entry = EntryRow(
        number=number,
        kind=kind,
        auditor_id=auditor_id,
        text=data.decode(),
        leaf=leaf_hash(data),
        at=at,
    )
    insert(session, entry)
    change(session, head, size=number + 1, latest=at)
    session.info.pop(_MOVED, None)
    tree.grow(session, head.size)
    return entry


def view(row: EntryRow) -> Entry:
    entry = json.loads(row.text)
    return Entry(
        number=row.number,
        kind=row.kind,
        at=row.at,
        auditor_id=row.auditor_id,
        facts=entry["facts"],
        statement=entry.get("statement"),
        leaf=base64.b64encode(row.leaf).decode(),
    )


@event.listens_for(Session, "before_commit")
def _keep_time(session: Session) -> None:
    """The books' time never runs backwards, also where nothing was appended."""
    if at := session.info.pop(_MOVED, None):
        change(session, _locked(session), latest=at)


def _locked(session: Session) -> HeadRow:
    """Asked for once in a transaction: the lock stays until it ends."""
    if HeadRow not in session.info:
        session.info[HeadRow] = find(session, HeadRow, lock=True)
    return cast("HeadRow", session.info[HeadRow])


def _readable(line: bytes) -> bytes:
    """Nothing gets in that a verifier would not read, such as a float in somebody's JWK."""
    try:
        parse(line)
    except EvidenceError as error:
        raise InvalidRequestError(
            f"the ledger cannot hold this; nothing was done: {error}"
        ) from error
    return line


def _state(session: Session, statement: Statement, number: int) -> None:
    """Write down that it was made: once, so that nobody else can repeat it for its maker.

    Whoever makes it was let in, and the signature checked, before others wrote their entries: a
    statement by a key that an earlier entry replaced would make the ledger unverifiable.
    """
    asked = {"maker": statement.by, "key": statement.key}
    found = session.connection().execute(_STATED, asked).one()
    if found.id is not None:  # else an applicant, whose key is in the application itself
        gone = found.removed_at is not None
        if gone or found.key_thumbprint != head_of(statement.signature).kid:
            raise UnsignedError("this key is no longer yours to sign with; nothing was done")
    if found.number is not None:
        raise IdempotencyConflictError(
            f"this key was used for entry {found.number} of the ledger; use a new one"
        )
    insert(session, StatementRow(by=statement.by, key=statement.key, number=number))
