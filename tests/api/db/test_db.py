"""The settings of every connection to the database."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text, update
from sqlalchemy.exc import InternalError, OperationalError
from sqlmodel import select

from api.db import LedgerEndRow, Store, change, engine, find
from tests.conftest import new_postgresql
from tests.databases import prepare
from tests.world import sqlite_url


@pytest.fixture
def postgresql_store(postgresql: str) -> Iterator[Store]:
    store = Store(new_postgresql(postgresql))
    prepare(store)
    yield store
    store.close()


def test_no_connection_to_sqlite_forgets_what_was_committed(tmp_path: Path) -> None:
    store = Store(sqlite_url(tmp_path))
    for begin in (store.read, store.write):
        with begin() as session:
            assert session.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
            assert session.execute(text("PRAGMA synchronous")).scalar_one() == 2  # FULL
    store.close()


def test_what_a_transaction_writes_is_put_into_the_log_by_its_commit(tmp_path: Path) -> None:
    """Data logged earlier and changed again would be read and written once more.

    More than may be kept in memory is put there all the same.
    """
    store, kept = Store(sqlite_url(tmp_path)), 4096 * engine._KEPT_PAGES
    assert written_before_the_commit(store, kept // 2) == 0
    assert written_before_the_commit(store, 2 * kept) > kept * 0.9
    store.close()


def written_before_the_commit(store: Store, size: int) -> int:
    """By how many bytes the log grows for a blob that is not committed yet."""
    store.truncate_wal()
    log = Path(f"{store.engine.url.database}-wal")
    with store.write() as session:
        before = log.stat().st_size
        session.execute(text("CREATE TABLE blobs (data BLOB)"))
        session.execute(text(f"INSERT INTO blobs VALUES (randomblob({size}))"))
        grown = log.stat().st_size - before
        session.rollback()
    return grown


def test_a_look_begins_nothing(store: Store) -> None:
    """Each question sees what was committed before it, and the connection is as it was."""
    size = select(LedgerEndRow.size)
    for expected in (5, 6):
        with store.autocommit_connection() as connection:
            connection.execute(size).scalar_one()
            with store.write() as session:
                head = find(session, LedgerEndRow, lock=True)
                assert head is not None
                change(session, head, size=expected)
            assert connection.execute(size).scalar_one() == expected
            driver = connection.connection.dbapi_connection
            assert driver is not None
            if store.engine.dialect.name == "sqlite":
                assert not driver.in_transaction
            else:
                assert driver.info.transaction_status == 0


def test_what_only_reads_writes_nothing(store: Store) -> None:
    for begin in (store.read, store.snapshot, store.autocommit_session):
        with begin() as session:
            session.exec(select(LedgerEndRow)).one().size = 99
            with pytest.raises(RuntimeError, match="read-only"):
                session.flush()
            session.expunge_all()
    for begin in (store.read, store.snapshot):
        with suppress(InternalError), begin() as session:
            session.connection().execute(update(LedgerEndRow).values(size=99))
    with store.autocommit_connection() as connection:
        assert connection.execute(select(LedgerEndRow.size)).scalar_one() != 99


def test_questions_see_what_was_committed_between_them(store: Store) -> None:
    with store.autocommit_session() as session:
        for expected in (11, 12):
            with store.write() as other:
                head = find(other, LedgerEndRow, lock=True)
                assert head is not None
                change(other, head, size=expected)
            assert session.exec(select(LedgerEndRow.size)).one() == expected


def test_reading_forgets_no_prepared_statement(postgresql_store: Store) -> None:
    """psycopg prepares what was asked some times, and forgets it all when anything is undone."""
    query = text("SELECT name FROM pg_prepared_statements ORDER BY name")
    for begin in (
        postgresql_store.read,
        postgresql_store.autocommit_session,
        postgresql_store.snapshot,
    ):
        for _ in range(20):
            with postgresql_store.autocommit_connection() as connection:
                before = connection.execute(query).scalars().all()
            with begin() as session:
                session.exec(select(LedgerEndRow.size)).one()
            with postgresql_store.autocommit_connection() as connection:
                assert set(before) <= set(connection.execute(query).scalars().all())
        assert before


def test_a_connection_that_was_lost_while_idle_is_replaced(
    postgresql_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose() -> None:
        query = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        )
        another = Store(postgresql_store.url)
        with another.autocommit_connection() as connection:
            connection.execute(text(f"{query} AND datname = current_database()")).all()
        another.close()

    with postgresql_store.autocommit_connection() as connection:
        connection.execute(select(LedgerEndRow.size)).scalar_one()
    lose()
    monkeypatch.setattr(engine, "_FRESH", 600)
    # It was just used, and is believed: what fails is known for what it is, and the next one works.
    with pytest.raises(OperationalError), postgresql_store.autocommit_connection() as connection:
        connection.execute(select(LedgerEndRow.size)).scalar_one()
    with postgresql_store.autocommit_connection() as connection:
        connection.execute(select(LedgerEndRow.size)).scalar_one()
    lose()
    monkeypatch.setattr(engine, "_FRESH", 0)
    with postgresql_store.autocommit_connection() as connection:
        connection.execute(select(LedgerEndRow.size)).scalar_one()


def test_what_follows_a_look_is_a_transaction_again(store: Store) -> None:
    with store.autocommit_connection() as connection:
        connection.execute(select(LedgerEndRow.size)).scalar_one()
    with store.write() as session:
        head = find(session, LedgerEndRow, lock=True)
        assert head is not None
        change(session, head, size=7)
        session.rollback()
    with store.autocommit_connection() as connection:
        assert connection.execute(select(LedgerEndRow.size)).scalar_one() != 7


def test_a_writer_waits_for_another_process_and_no_longer_than_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two stores are to SQLite what two processes are."""
    one, other = Store(sqlite_url(tmp_path)), Store(sqlite_url(tmp_path))
    prepare(one)
    with ThreadPoolExecutor(1) as beside:
        with one.write() as session:
            head = find(session, LedgerEndRow, lock=True)
            assert head is not None
            waiting = beside.submit(size_under_lock, other)
            change(session, head, size=8)
        assert waiting.result() == 8
    monkeypatch.setattr(engine, "_PATIENCE", 0.05)
    with one.write(), pytest.raises(OperationalError, match="locked"):
        size_under_lock(other)
    assert size_under_lock(other) == 8
    for store in (one, other):
        with store.read() as session:
            assert session.execute(text("PRAGMA busy_timeout")).scalar_one() > 0
        store.close()


def size_under_lock(store: Store) -> int:
    with store.write() as session:
        head = find(session, LedgerEndRow, lock=True)
        assert head is not None
        return head.size
