"""What every connection to the database is told."""

from pathlib import Path

from sqlalchemy import text

from api.store import Store
from tests.world import sqlite_url


def test_no_connection_to_sqlite_forgets_what_was_committed(tmp_path: Path) -> None:
    store = Store(sqlite_url(tmp_path))
    for begin in (store.read, store.write):
        with begin() as session:
            assert session.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
            assert session.execute(text("PRAGMA synchronous")).scalar_one() == 2  # FULL
    store.close()
