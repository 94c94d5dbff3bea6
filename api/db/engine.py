"""Database engine: SQLite (WAL) by default, PostgreSQL by one setting.

`write()` is one transaction that will write. On SQLite it takes the write lock at once (BEGIN
IMMEDIATE), so that nothing comes between a check and its debit. On PostgreSQL rows are locked by
`for_update`. `read()` and `snapshot()` are transactions that only read. `autocommit_connection()`
and `autocommit_session()` begin no transaction.
"""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from threading import Lock
from typing import Any, NoReturn

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import InterfaceError, InvalidatePoolError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlmodel import Session

# The database cannot answer any query now: it is gone, full or locked, or all connections are
# taken.
UNAVAILABLE = (OperationalError, InterfaceError, PoolTimeoutError)
# Seconds for which a writer waits for other writers on SQLite.
_PATIENCE = 30.0
_WAIT = f"PRAGMA busy_timeout={round(1000 * _PATIENCE)}"
# Connections of a process that serves no requests, and those that stay open when idle.
_CONNECTIONS, _KEPT_CONNECTIONS = 30, 10
# Seconds that a thread waits for a connection. There is one for each thread (`api.app.capacity`),
# so a wait means that this was violated.
_POOL_PATIENCE = 10.0
# Seconds between two attempts to get SQLite's lock.
_PAUSE = 0.001
# Milliseconds that the truncation of SQLite's log waits for readers, while writers wait for it.
_READERS_MS = 200
# Pages (of 4 KiB) in SQLite's log at which a commit copies them into the database. With a small
# number an upload is written three times: into the log, into the database, and overwritten.
_LOG_PAGES = 32_768
# Pages (of 4 KiB) that a writer keeps in memory until the commit. Pages that spill into the log
# before, and change again, are read from it and written there again. (SQLite reads a multiple of
# 256 as: all pages.)
_KEPT_PAGES = 16_383
# Seconds (and milliseconds) after which a connection attempt to an unreachable PostgreSQL ends.
_IMPATIENCE = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
# Milliseconds after which PostgreSQL ends a wait for a lock, a statement, and an idle transaction.
# They apply to processes that serve or work; commands have no limit.
SERVING_LIMITS: Mapping[str, int] = {
    "lock_timeout": 20_000,
    "statement_timeout": 300_000,
    "idle_in_transaction_session_timeout": 300_000,
}
# Seconds for which a connection to PostgreSQL counts as alive after its last use.
_FRESH = 1.0
# Options for queries outside a transaction: SQLite's driver never begins one by itself.
_OUTSIDE: dict[str, dict[str, Any]] = {
    "sqlite": {"begins": False},
    "postgresql": {"isolation_level": "AUTOCOMMIT"},
}
# Options for transactions that only read. On SQLite a write would not stay either, because the
# transaction is rolled back.
_READING: dict[str, dict[str, Any]] = {"sqlite": {}, "postgresql": {"postgresql_readonly": True}}


class Store:
    """Sessions on one database."""

    def __init__(
        self, url: str, connections: int = _CONNECTIONS, limits: Mapping[str, int] | None = None
    ) -> None:
        """Open at most `connections` connections, each at its first use.

        `limits` are time limits of PostgreSQL, in milliseconds.
        """
        self.url = url
        self.engine = _engine(url, connections, limits or {})
        self._at_once = self.engine.execution_options(**_OUTSIDE[self.engine.dialect.name])
        self._reading = self.engine.execution_options(**_READING[self.engine.dialect.name])
        self._writers = Lock() if self.engine.dialect.name == "sqlite" else None

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a transaction that only reads."""
        with self.reading_session() as session:
            yield session
            end_read(session)

    def reading_session(self) -> Session:
        """Return a session that only reads; it connects at the first query."""
        return _ReadOnlySession(self._reading, expire_on_commit=False, autoflush=False)

    @contextmanager
    def autocommit_connection(self) -> Iterator[Connection]:
        """Open a connection outside any transaction, for a single query."""
        with self._at_once.connect() as connection:
            yield connection

    @contextmanager
    def autocommit_session(self) -> Iterator[Session]:
        """Open a session outside any transaction; each query sees the database at its own time."""
        with _ReadOnlySession(self._at_once, expire_on_commit=False, autoflush=False) as session:
            yield session

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        """Open a transaction that reads everything as it was at one moment."""
        with self.read() as session:
            if self.engine.dialect.name == "postgresql":
                session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a transaction that commits when the block ends, and is rolled back if it raises."""
        with self._write_lock(), _Session(self.engine, expire_on_commit=False) as session:
            session.connection(execution_options={"writes": True})
            yield session
            session.commit()

    @contextmanager
    def write_once(self) -> Iterator[Connection]:
        """Open a connection for one statement that writes.

        On PostgreSQL it is its own transaction.
        """
        if self._writers is not None:
            with self.write() as session:
                yield session.connection()
            return
        with self._at_once.connect() as connection:
            yield connection

    @contextmanager
    def _write_lock(self) -> Iterator[None]:
        """Let the threads of a process write one after the other on SQLite, without oversleeping.

        SQLite's one lock is also polled (`_begin_to_write`), for writers of other processes, and
        for a thread that did not get its turn in time.
        """
        if self._writers is None:
            yield
            return
        mine = self._writers.acquire(timeout=_PATIENCE)
        try:
            yield
        finally:
            if mine:
                self._writers.release()

    def truncate_wal(self) -> None:
        """Copy SQLite's log into the database and truncate it, so that no overwritten data stay in
        it.

        If somebody still reads the log, it is left for the next time.
        """
        if self._writers is None:
            return
        with self._write_lock(), closing(self.engine.raw_connection()) as connection:
            cursor = connection.cursor()
            cursor.execute(f"PRAGMA busy_timeout={_READERS_MS}")
            try:
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                cursor.execute(_WAIT)

    def close(self) -> None:
        self.engine.dispose()


class _Session(Session):
    """Session of one transaction. It looks its connection up once; SQLAlchemy does so each time."""

    _mine: Connection | None = None

    def connection(
        self,
        bind_arguments: Any = None,
        execution_options: Mapping[str, Any] | None = None,
    ) -> Connection:
        if self._mine is None or self._mine.closed or bind_arguments or execution_options:
            self._mine = super().connection(bind_arguments, execution_options)
        return self._mine


class _ReadOnlySession(_Session):
    """A session that must not write."""

    def flush(self, objects: object = None) -> NoReturn:
        raise RuntimeError("A read-only transaction must not write.")


def end_read(session: Session) -> None:
    """End the transaction of a session that only reads."""
    # A rollback would make PostgreSQL's driver discard all its prepared statements.
    if session.get_bind().dialect.name == "postgresql":
        session.commit()


def _engine(url: str, connections: int, limits: Mapping[str, int]) -> Engine:
    address = make_url(url)
    kept = min(connections, _KEPT_CONNECTIONS)
    pool: dict[str, Any] = {
        "pool_size": kept,
        "max_overflow": connections - kept,
        "pool_timeout": _POOL_PATIENCE,
    }
    if address.get_backend_name() != "sqlite":
        given = {name: value for name, value in _IMPATIENCE.items() if name not in address.query}
        own = str(address.query.get("options", ""))
        # Options in the URL come last, and override the others.
        options = " ".join([*(f"-c {name}={value}" for name, value in limits.items()), own])
        asked = given | {"options": options.strip()}
        engine = create_engine(url, connect_args=asked, pool_use_lifo=True, **pool)
        _ping_the_idle(engine)
        return engine
    if address.database in (None, "", ":memory:"):
        pool = {}  # one connection, which is the database
    sqlite = {"timeout": _PATIENCE, "check_same_thread": False}
    engine = create_engine(url, connect_args=sqlite, **pool)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _ping_the_idle(engine: Engine) -> None:
    """Ping a connection that was idle for a while before its next use."""

    def used(_connection: Any, entry: ConnectionPoolEntry) -> None:
        entry.info["used"] = time.monotonic()

    def ping(connection: Any, entry: ConnectionPoolEntry, _proxy: Any) -> None:
        if time.monotonic() - entry.info["used"] < _FRESH:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError from error  # the other connections are gone as well

    event.listen(engine, "connect", used)
    event.listen(engine, "checkin", used)
    event.listen(engine, "checkout", ping)


def _prepare_sqlite(connection: Any, _entry: ConnectionPoolEntry) -> None:
    # The driver must not begin transactions by itself: `_begin_sqlite` does.
    connection.isolation_level = None
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=ON",
        f"wal_autocheckpoint={_LOG_PAGES}",
        f"cache_spill={_KEPT_PAGES}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Any) -> None:
    options = connection.get_execution_options()
    if options.get("writes"):
        _begin_to_write(connection)
    elif options.get("begins", True):
        connection.exec_driver_sql("BEGIN")


def _begin_to_write(connection: Any) -> None:
    """Take SQLite's one write lock as soon as it is free; SQLite itself would oversleep."""
    driver, until = connection.connection.dbapi_connection, time.monotonic() + _PATIENCE
    driver.execute("PRAGMA busy_timeout=0")
    try:
        while time.monotonic() < until:
            try:
                driver.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    break
                time.sleep(_PAUSE)
            else:
                return
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # fails like every other query now
    finally:
        driver.execute(_WAIT)
