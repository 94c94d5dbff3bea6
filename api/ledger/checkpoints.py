"""Checkpoints of the ledger, signed every few seconds if entries were appended.

[tlog-checkpoint] https://c2sp.org/tlog-checkpoint. [tlog-cosignature] cosignatures of witnesses.
"""

import logging
import threading
from dataclasses import dataclass
from datetime import datetime

from joserfc.jwk import OKPKey
from sqlmodel import Session, col, select

from api.db import CheckpointRow, LedgerEndRow, Store
from api.identity.signing_keys import SigningKeys
from api.kernel.errors import InvalidRequestError, NotFoundError, NotSignedError
from api.ledger.entries import lock
from api.ledger.tree import load_tree
from openapi.resources import SignedHead
from privacy.errors import NoteError
from privacy.ledger import notes

log = logging.getLogger(__name__)


@dataclass
class Checkpointer:
    """Signer of a new checkpoint whenever the ledger has grown."""

    store: Store
    keys: SigningKeys
    origin: str
    seconds: float

    def run(self, stop: threading.Event) -> None:
        """Sign new checkpoints until `stop` is set, and a last one then, so that every entry is
        covered.
        """
        while not stop.wait(self.seconds):
            self._safely()
        self._safely()

    def once(self) -> CheckpointRow | None:
        """Sign a checkpoint of the newest size, if there is none yet.

        Return the newest checkpoint.
        """
        with self.store.read() as session:
            newest = load_latest(session)
            if session.exec(select(LedgerEndRow)).one().size == (newest.size if newest else 0):
                return newest
        key = self.keys.current("ledger")
        with self.store.write() as session:
            return issue_checkpoint(session, [key], self.origin, lock(session))

    def _safely(self) -> None:
        try:
            self.once()
        except Exception:  # the next call may succeed
            log.exception("checkpoint.error")


def issue_checkpoint(
    session: Session, keys: list[OKPKey], origin: str, at: datetime, *, lasting: bool = False
) -> CheckpointRow:
    """Return the checkpoint of the locked ledger; sign it with these keys if there is none yet."""
    size = session.exec(select(LedgerEndRow)).one().size
    row = session.get(CheckpointRow, size)
    if row is None:
        checkpoint = notes.Checkpoint(origin, size, load_tree(session).root(size))
        note = notes.sign_checkpoint(checkpoint, [(origin, key) for key in keys])
        row = CheckpointRow(size=size, note=note, at=at, lasting=lasting)
        session.add(row)
        session.flush()
    return row


def load_latest(session: Session) -> CheckpointRow | None:
    query = select(CheckpointRow).order_by(col(CheckpointRow.size).desc()).limit(1)
    return session.exec(query).first()


def find_covering(session: Session, number: int) -> CheckpointRow:
    """Return the newest checkpoint if it covers this entry; raise `NotSignedError` otherwise."""
    row = load_latest(session)
    if row is None or row.size <= number:
        raise NotSignedError(
            f"No checkpoint covers entry {number} yet. Try again in a few seconds."
        )
    return row


def add_cosignature(session: Session, note: str, witness: notes.VerifierKey) -> CheckpointRow:
    """Store a witness's cosignature with its checkpoint."""
    try:
        size = notes.Checkpoint.parse(notes.Note.parse(note).text).size
        row = session.exec(
            select(CheckpointRow).where(CheckpointRow.size == size).with_for_update()
        ).first()
        if row is None:
            raise NotFoundError(f"This service has signed no checkpoint of size {size}.")
        row.note = notes.merge(row.note, note, [witness])
    except NoteError as error:
        raise InvalidRequestError(
            f"The cosignature is not valid: {error}", case="wrong-cosignature"
        ) from error
    row.lasting = True
    session.add(row)
    return row


def to_wire(row: CheckpointRow) -> SignedHead:
    """Return the checkpoint in its wire form."""
    return SignedHead(size=row.size, note=row.note, at=row.at)
