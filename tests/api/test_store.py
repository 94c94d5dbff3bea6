"""What every connection to the database is told."""

from pathlib import Path

from sqlalchemy import text
from sqlmodel import select

from api.store import HeadRow, Store, change, find
from tests.world import sqlite_url


def test_no_connection_to_sqlite_forgets_what_was_committed(tmp_path: Path) -> None:
    store = Store(sqlite_url(tmp_path))
    for begin in (store.read, store.write):
        with begin() as session:
            assert session.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
            assert session.execute(text("PRAGMA synchronous")).scalar_one() == 2  # FULL
    store.close()


def test_a_look_begins_nothing(store: Store) -> None:
    """Each question sees what was committed before it, and the connection is as it was."""
    size = select(HeadRow.size)
    for expected in (5, 6):
        with store.look() as connection:
            connection.execute(size).scalar_one()
            with store.write() as session:
                head = find(session, HeadRow, lock=True)
                assert head is not None
                change(session, head, size=expected)
            assert connection.execute(size).scalar_one() == expected
            driver = connection.connection.dbapi_connection
            assert driver is not None
            if store.engine.dialect.name == "sqlite":
                assert not driver.in_transaction
            else:
                assert driver.info.transaction_status == 0


def test_what_follows_a_look_is_a_transaction_again(store: Store) -> None:
    with store.look() as connection:
        connection.execute(select(HeadRow.size)).scalar_one()
    with store.write() as session:
        head = find(session, HeadRow, lock=True)
        assert head is not None
        change(session, head, size=7)
        session.rollback()
    with store.look() as connection:
        assert connection.execute(select(HeadRow.size)).scalar_one() != 7
