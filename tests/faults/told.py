"""Secrets of two-party runs, reported to the test that searches the disk for them.

A process writes its secrets into a file `told` as it makes them, for the tests alone; no other file
of the case, of the database or of the temporary folder may have them.
"""

import base64
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import rbcl
from sqlalchemy import text

from api.db import Store
from privacy.two_party import AuditorParty

# Bytes by which a secret is known again, and how often they are taken of a long one: a database
# lays long values out over pages.
PIECE, PIECES = 32, 8


class Told:
    """The file, and what is looked through."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def tell(self, secret: bytes) -> None:
        with (self.folder / "told").open("a") as file:
            file.write(secret.hex() + "\n")

    def tell_of(self, party: AuditorParty) -> AuditorParty:
        """The keys of an auditor's party: of its weights, and of its points."""
        for key in party._keys:
            self.tell(key.export())
        self.tell(party._blinding._secret())
        return party

    def all(self) -> list[bytes]:
        file = self.folder / "told"
        return [bytes.fromhex(line) for line in file.read_text().split()] if file.exists() else []

    def violations(self, store: Store) -> Iterator[str]:
        """Return the places on disk that contain a secret."""
        wanted = [form for secret in self.all() for form in _forms(secret)]
        for path in self._files(store):
            data = path.read_bytes()
            if any(form in data for form in wanted):
                yield f"a secret of a run is in {path.name}"

    def holds(self, store: Store, public: bytes) -> bool:
        """Whether the same search finds what is there."""
        files = [path.read_bytes() for path in self._files(store)]
        return any(piece in data for data in files for piece in _pieces(public))

    def _files(self, store: Store) -> Iterator[Path]:
        own = (path for path in self.folder.rglob("*") if path.name != "told")
        yield from (path for path in (*own, *_database(store)) if path.is_file())


def live_in(folder: Path) -> None:
    """Make this process tell its scalars, and have its temporary files in the case's folder."""
    (folder / "temporary").mkdir(exist_ok=True)
    os.environ["TMPDIR"] = str(folder / "temporary")
    tempfile.tempdir = None
    draw, told = rbcl.crypto_core_ristretto255_scalar_random, Told(folder)

    def drawn() -> bytes:
        scalar: bytes = draw()
        told.tell(scalar)
        return scalar

    rbcl.crypto_core_ristretto255_scalar_random = drawn


def _pieces(secret: bytes) -> list[bytes]:
    step = max(1, (len(secret) - PIECE) // PIECES)
    return [secret[at : at + PIECE] for at in range(0, len(secret) - PIECE + 1, step)][:PIECES]


def _forms(secret: bytes) -> Iterator[bytes]:
    """As it is, in hexadecimal, and in base64."""
    for piece in _pieces(secret):
        yield from (piece, piece.hex().encode(), base64.b64encode(piece[:30]))


def _database(store: Store) -> Iterator[Path]:
    """The files of a database, its journal and its temporary files."""
    if store.engine.dialect.name == "sqlite":
        file = Path(str(store.engine.url.database))
        yield from file.parent.glob(f"{file.name}*")
        return
    with store.read() as session:
        [[home]] = session.execute(text("SHOW data_directory"))
        own = "SELECT oid FROM pg_database WHERE datname = current_database()"
        [[number]] = session.execute(text(own))
    for folder in (f"base/{number}", "base/pgsql_tmp", "pg_wal"):
        yield from (Path(home) / folder).rglob("*")
