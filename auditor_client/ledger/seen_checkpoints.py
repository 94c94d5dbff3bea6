"""Checkpoints that this machine has seen. A checkpoint that contradicts them proves fraud.

An older checkpoint, or one on another branch, contradicts them. One note per ledger is enough: a
checkpoint is stored only after a proof of its consistency with the previous one.
"""

from hashlib import sha256
from pathlib import Path

from auditor_client.errors import LedgerError
from auditor_client.local.private_files import home, write_private
from privacy.errors import NoteError
from privacy.ledger.notes import Checkpoint, Note


def seen(origin: str) -> list[str]:
    """Return the newest checkpoint of this ledger that this machine verified, if any."""
    path = _path(origin)
    return [path.read_text(encoding="utf-8")] if path.exists() else []


def size_of(note: str) -> int:
    """Return the number of entries that a checkpoint covers."""
    try:
        return Checkpoint.parse(Note.parse(note).text).size
    except NoteError as error:
        raise LedgerError(
            f"A checkpoint stored on this machine cannot be read: {error}.", case="unreadable"
        ) from error


def remember(origin: str, note: str) -> None:
    write_private(_path(origin), note)


def _path(origin: str) -> Path:
    return home() / "ledgers" / f"{sha256(origin.encode()).hexdigest()[:32]}.note"
