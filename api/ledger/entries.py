"""Entries, written in the same transaction as the event that they record.

A writer locks the one row of `LedgerEndRow` first. So entries are numbered from 0 without gaps in
the order of their commits, and two writers cannot deadlock.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import bindparam, event, select
from sqlalchemy.orm.attributes import set_committed_value
from sqlmodel import Session, and_, col

from api.db import (
    EntryRow,
    LedgerEndRow,
    ResearcherRow,
    StatementRow,
    TreeHashRow,
    change,
    find,
    insert,
)
from api.kernel.clock import now
from api.kernel.errors import IdempotencyConflictError, InvalidRequestError, UnsignedError
from api.ledger.tree import load_tree
from openapi.resources import Entry
from privacy.errors import EvidenceError
from privacy.ledger.entries import encode
from privacy.ledger.export_lines import parse
from privacy.ledger.merkle import leaf_hash
from privacy.ledger.statements import Statement, parse_header
from privacy.ledger.tiles import TILE

# Key in a session's info: the ledger's new time, until it is written.
_MOVED = "ledger's new time"
_IS_MAKER = col(ResearcherRow.id).in_(bindparam("makers", expanding=True))
_WAS_MADE = and_(
    col(StatementRow.by).in_(bindparam("makers", expanding=True)),
    col(StatementRow.key).in_(bindparam("keys", expanding=True)),
)
# From the one row of `LedgerEndRow`: makers of statements, each with all earlier statements by
# their keys.
_STATED = (
    select(
        col(ResearcherRow.id),
        col(ResearcherRow.key_thumbprint),
        col(ResearcherRow.removed_at),
        col(StatementRow.by),
        col(StatementRow.key),
        col(StatementRow.number),
    )
    .select_from(LedgerEndRow)
    .outerjoin(ResearcherRow, _IS_MAKER)
    .outerjoin(StatementRow, _WAS_MADE)
)


@dataclass(frozen=True)
class Draft:
    """Entry before it has a number and a time."""

    kind: str
    facts: Mapping[str, Any]
    auditor_id: str | None = None
    statement: Statement | None = None


def lock(session: Session) -> datetime:
    """Take the lock that orders all entries and charges, and advance the ledger's time.

    The time is written with the entry that follows, or at the end of the transaction without one.
    """
    head = _locked(session)
    if (at := now()) > head.latest:
        set_committed_value(head, "latest", at)
        session.info[_MOVED] = at
    return head.latest


def await_lock(session: Session) -> None:
    """Wait for the lock that charges need, and change nothing."""
    _locked(session)


def append(
    session: Session,
    kind: str,
    facts: Mapping[str, Any],
    auditor_id: str | None = None,
    statement: Statement | None = None,
    *,
    at: datetime | None = None,
) -> EntryRow:
    """Append one entry, which exists if and only if the transaction commits.

    `at` is the time from `lock`, for events that must happen at one moment of the ledger.
    """
    [entry] = append_all(session, [Draft(kind, facts, auditor_id, statement)], at=at)
    return entry


def append_all(
    session: Session, drafts: Sequence[Draft], *, at: datetime | None = None
) -> list[EntryRow]:
    """Append several entries, one after the other, at one moment of the ledger."""
    session.flush()  # the database may refuse what an entry records
    head = _locked(session)
    at = max(head.latest, at or now())
    numbers = range(head.size, head.size + len(drafts))
    stated = {
        number: draft.statement
        for number, draft in zip(numbers, drafts, strict=True)
        if draft.statement is not None
    }
    _state(session, stated)
    entries = [_entry(number, at, draft) for number, draft in zip(numbers, drafts, strict=True)]
    insert(session, *entries)
    change(session, head, size=numbers.stop, latest=at)
    session.info.pop(_MOVED, None)
    for number in numbers:
        _grow_tree(session, number + 1)
    return entries


def _grow_tree(session: Session, size: int) -> None:
    """Store the hash of every subtree that the newest entry has completed."""
    for level, found in enumerate(load_tree(session).completed(size), start=1):
        number = size // TILE**level - 1
        session.add(TreeHashRow(level=level, number=number, hash=found))


def to_wire(row: EntryRow) -> Entry:
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
    """Record the ledger's time, so that it never runs backwards even if nothing was appended."""
    if at := session.info.pop(_MOVED, None):
        change(session, _locked(session), latest=at)


def _locked(session: Session) -> LedgerEndRow:
    """Return the locked row of the ledger; it stays locked for the whole transaction."""
    if LedgerEndRow not in session.info:
        session.info[LedgerEndRow] = find(session, LedgerEndRow, lock=True)
    return cast("LedgerEndRow", session.info[LedgerEndRow])


def _entry(number: int, at: datetime, draft: Draft) -> EntryRow:
    data = _readable(encode(number, at, draft.kind, draft.auditor_id, draft.facts, draft.statement))
    return EntryRow(
        number=number,
        kind=draft.kind,
        auditor_id=draft.auditor_id,
        text=data.decode(),
        leaf=leaf_hash(data),
        at=at,
    )


def _readable(line: bytes) -> bytes:
    """Return the line if a verifier can read it; refuse, for example, a float in somebody's JWK."""
    try:
        parse(line)
    except EvidenceError as error:
        raise InvalidRequestError(
            f"The ledger cannot hold this request. Nothing was done: {error}", case="not-an-entry"
        ) from error
    return line


def _state(session: Session, stated: Mapping[int, Statement]) -> None:
    """Record each statement once, so that nobody can repeat it in its maker's name.

    The makers were authenticated, and the signatures verified, before others wrote their entries. A
    statement by a key that an earlier entry replaced would make the ledger unverifiable.
    """
    if not stated:
        return
    asked = {
        "makers": [statement.by for statement in stated.values()],
        "keys": [statement.key for statement in stated.values()],
    }
    found = session.connection().execute(_STATED, asked).all()
    makers = {row.id: row for row in found}
    made = {(row.by, row.key): row.number for row in found}
    for statement in stated.values():
        # A maker without a row is an applicant, whose key is in the application itself.
        if (maker := makers.get(statement.by)) is not None:
            gone = maker.removed_at is not None
            if gone or maker.key_thumbprint != parse_header(statement.signature).kid:
                raise UnsignedError(
                    "This key is no longer registered as yours. Nothing was done.",
                    case="former-key",
                )
        if (earlier := made.get((statement.by, statement.key))) is not None:
            raise IdempotencyConflictError(
                f"This key was used for entry {earlier} of the ledger. Nothing was done."
                " Use a new key.",
                case="key-used-before",
            )
    insert(
        session,
        *(
            StatementRow(by=statement.by, key=statement.key, number=number)
            for number, statement in stated.items()
        ),
    )
