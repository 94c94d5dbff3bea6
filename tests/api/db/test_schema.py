"""Migrations, on both databases: from nothing, from every revision, and by several at once."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import text
from sqlmodel import Session, select

from api.db import AuditorRow, LedgerEndRow, Store
from api.db.schema import list_differences, list_revisions, migrate
from api.kernel.clock import now
from tests.conftest import new_postgresql

NewDatabase = Callable[[], str]


@pytest.fixture
def empty(new_database: NewDatabase) -> Iterator[Store]:
    store = Store(new_database())
    yield store
    store.close()


def head_rows(store: Store) -> list[int]:
    with Session(store.engine) as session:
        return [row.size for row in session.exec(select(LedgerEndRow))]


def test_from_nothing(empty: Store) -> None:
    assert list_differences(empty)
    migrate(empty)
    assert list_differences(empty) == []
    assert head_rows(empty) == [0]


@pytest.mark.long_on_postgresql
@pytest.mark.parametrize("revision", list_revisions())
def test_from_every_revision_with_data_in_it(empty: Store, revision: str) -> None:
    migrate(empty, revision)
    with empty.write() as session:
        session.add(AuditorRow(id="auditor_1", name="Lab", created_at=now()))
    migrate(empty)
    assert list_differences(empty) == []
    assert head_rows(empty) == [0]
    with empty.read() as session:
        assert session.get_one(AuditorRow, "auditor_1").name == "Lab"


def test_postgresql_does_not_compress_person_numbers(postgresql: str) -> None:
    """The time of compression would depend on who was found."""
    store = Store(new_postgresql(postgresql))
    migrate(store)
    columns = (
        "audience_parts.data",
        "audience_groups.people",
        "audience_orders.persons",
        "charged_people.people",
    )
    with store.autocommit_connection() as connection:
        how = text(
            "SELECT attstorage FROM pg_attribute WHERE attrelid = CAST(:table AS regclass)"
            " AND attname = :column"
        )
        for name in columns:
            table, column = name.split(".")
            asked = {"table": table, "column": column}
            assert connection.execute(how, asked).scalar() in ("e", b"e"), name
    store.close()


def test_migrating_again_changes_nothing(empty: Store) -> None:
    migrate(empty)
    migrate(empty)
    assert list_differences(empty) == []
    assert head_rows(empty) == [0]


@pytest.mark.long
def test_processes_that_start_together_migrate_once(new_database: NewDatabase) -> None:
    url = new_database()
    program = (
        "import sys; from api.db import Store; from api.db.schema import migrate;"
        "print('ready', flush=True); sys.stdin.readline(); migrate(Store(sys.argv[1]))"
    )
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", program, url],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(3)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        complaints = [process.communicate()[1] for process in processes]
    assert complaints == ["", "", ""]
    store = Store(url)
    assert list_differences(store) == []
    assert head_rows(store) == [0]
    store.close()
