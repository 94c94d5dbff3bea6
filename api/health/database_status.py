"""Status of the database: its kind and version, its schema, its size, and its speed."""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url, text
from sqlmodel import Session

from api.db import Store
from api.db.schema import list_revisions


@dataclass(frozen=True)
class Disk:
    """Bytes of the volume that holds a database's file."""

    free: int
    total: int


@dataclass(frozen=True)
class Database:
    """Database of the service; `revision` is its newest migration, `newest` the code's."""

    kind: str
    version: str
    revision: str
    newest: str
    size: int
    disk: Disk | None
    milliseconds: float

    @property
    def in_step(self) -> bool:
        return self.revision == self.newest


def read_database_status(session: Session, store: Store) -> Database:
    started = time.perf_counter()
    revision = session.scalar(text("SELECT version_num FROM alembic_version"))
    milliseconds = (time.perf_counter() - started) * 1000
    sqlite = store.engine.dialect.name == "sqlite"
    size, disk = _file(store) if sqlite else (_served(session), None)
    version = "SELECT sqlite_version()" if sqlite else "SHOW server_version"
    return Database(
        kind="SQLite" if sqlite else "PostgreSQL",
        version=str(session.scalar(text(version))),
        revision=str(revision),
        newest=list_revisions()[-1],
        size=size,
        disk=disk,
        milliseconds=milliseconds,
    )


def _file(store: Store) -> tuple[int, Disk | None]:
    """Return the size of the file with its write-ahead log, and the volume."""
    name = make_url(store.url).database
    if not name or name == ":memory:":
        return 0, None
    files = [Path(f"{name}{end}") for end in ("", "-wal")]
    size = sum(file.stat().st_size for file in files if file.exists())
    volume = shutil.disk_usage(Path(name).parent)
    return size, Disk(volume.free, volume.total)


def _served(session: Session) -> int:
    return int(session.scalar(text("SELECT pg_database_size(current_database())")) or 0)
