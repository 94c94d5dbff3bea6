"""Queries of entries, checkpoints and proofs, limited to what the caller may see."""

from sqlmodel import Session, col, select

from api.db import CheckpointRow, EntryRow
from api.identity.caller import Caller
from api.kernel.errors import NotFoundError, NotSignedError
from api.ledger import checkpoints, proofs
from api.ledger.entries import to_wire
from api.ledger.visibility import select_visible_entries
from api.web.pagination import page
from openapi.resources import Entry, InclusionProof, Page, SignedHead


def list_entries(
    session: Session,
    caller: Caller,
    kind: str | None = None,
    cursor: int | None = None,
    limit: int = 50,
) -> Page[Entry]:
    """Return the entries that the caller may see, newest first."""
    query = select_visible_entries(caller)
    if kind is not None:
        query = query.where(EntryRow.kind == kind)
    return page(session, query, EntryRow.number, to_wire, cursor, limit)


def follow_entries(
    session: Session, caller: Caller, after: int | None = None, limit: int = 50
) -> Page[Entry]:
    """Return the entries that the caller may see and that follow `after`, oldest first."""
    query = select_visible_entries(caller).where(
        col(EntryRow.number) > (-1 if after is None else after)
    )
    rows = session.exec(query.order_by(col(EntryRow.number)).limit(limit)).all()
    following = str(rows[-1].number) if len(rows) == limit else None
    return Page[Entry](items=[to_wire(row) for row in rows], next=following)


def get_entry(session: Session, caller: Caller, number: int) -> Entry:
    """Return an entry that the caller may see; any other does not exist for them."""
    return to_wire(_visible_entry(session, caller, number))


def prove_entry(session: Session, caller: Caller, number: int) -> InclusionProof:
    """Prove that the newest checkpoint covers an entry that the caller may see."""
    return proofs.prove_inclusion(session, _visible_entry(session, caller, number))


def get_newest_checkpoint(session: Session) -> SignedHead:
    """Return the newest checkpoint, with its cosignatures."""
    row = checkpoints.load_latest(session)
    if row is None:
        raise NotSignedError("There is no checkpoint yet. Try again in a few seconds.")
    return checkpoints.to_wire(row)


def list_checkpoints(
    session: Session, cursor: int | None = None, limit: int = 50
) -> Page[SignedHead]:
    """Return all checkpoints, newest first."""
    heads = select(CheckpointRow)
    return page(session, heads, CheckpointRow.size, checkpoints.to_wire, cursor, limit)


def _visible_entry(session: Session, caller: Caller, number: int) -> EntryRow:
    row = session.exec(select_visible_entries(caller).where(EntryRow.number == number)).first()
    if row is None:
        raise NotFoundError(f"There is no entry {number} that you may see.")
    return row
