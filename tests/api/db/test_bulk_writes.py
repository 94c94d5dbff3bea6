"""Rows written at once: the database and the session agree on them."""

from datetime import UTC, datetime
from fractions import Fraction

import pytest
from sqlalchemy import bindparam, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm.exc import StaleDataError

from api.db import (
    EntryRow,
    PlatformAccountRow,
    StatementRow,
    Store,
    change,
    change_all,
    find,
    find_all,
    insert,
)
from api.db.bulk_writes import execute_in_driver

AT = datetime(2030, 1, 2, 3, 4, 5, 678, tzinfo=UTC)


def test_a_row_that_is_inserted_is_read_as_it_was(store: Store) -> None:
    made = EntryRow(number=7, kind="model", text="{}", leaf=b"\0\1", at=AT)
    with store.write() as session:
        insert(session, made)
        assert find(session, EntryRow, number=7) is not made
    with store.read() as session:
        found = find(session, EntryRow, number=7)
    assert found is not None
    assert found.model_dump() == made.model_dump()
    assert found.auditor_id is None


def test_a_row_is_inserted_once(store: Store) -> None:
    with store.write() as session:
        insert(session, StatementRow(by="a", key="k", number=1))
    with pytest.raises(IntegrityError), store.write() as session:
        insert(session, StatementRow(by="a", key="k", number=2))


def test_a_change_is_in_the_row_and_in_the_database(store: Store) -> None:
    with store.write() as session:
        account = find(session, PlatformAccountRow, lock=True)
        assert account is not None
        change(session, account, window=3, spent=Fraction(1, 8))
        assert (account.window, account.spent) == (3, Fraction(1, 8))
        assert account not in session.dirty
    with store.read() as session:
        found = find(session, PlatformAccountRow)
    assert found is not None
    assert (found.window, found.spent) == (3, Fraction(1, 8))


def test_a_change_is_of_its_row_alone(store: Store) -> None:
    with store.write() as session:
        for key in "kl":
            insert(session, StatementRow(by="b", key=key, number=1))
        row = find(session, StatementRow, by="b", key="k")
        assert row is not None
        change(session, row, number=2)
        kept = find(session, StatementRow, by="b", key="l")
    assert kept is not None
    assert (row.number, kept.number) == (2, 1)


def test_a_change_of_a_row_that_is_gone_is_not_taken_for_made(store: Store) -> None:
    with store.write() as session:
        insert(session, StatementRow(by="c", key="k", number=1))
        row = find(session, StatementRow, by="c", key="k")
        assert row is not None
        session.connection().execute(text("DELETE FROM statements"))
        with pytest.raises(StaleDataError):
            change(session, row, number=2)
        assert row.number == 1


def test_several_rows_are_written_and_changed_at_once(store: Store) -> None:
    with store.write() as session:
        insert(session, *(StatementRow(by="d", key=key, number=1) for key in "klm"))
        rows = sorted(find_all(session, StatementRow, by="d"), key=lambda row: row.key)
        change_all(session, [(row, {"number": at}) for at, row in enumerate(rows, start=7)])
        assert [row.number for row in rows] == [7, 8, 9]
    with store.read() as session:
        found = find_all(session, StatementRow, by="d")
    assert {row.key: row.number for row in found} == {"k": 7, "l": 8, "m": 9}


def test_one_of_several_that_is_gone_is_not_taken_for_changed(store: Store) -> None:
    with store.write() as session:
        insert(session, *(StatementRow(by="e", key=key, number=1) for key in "kl"))
        rows = find_all(session, StatementRow, by="e")
        session.connection().execute(text("DELETE FROM statements WHERE key = 'l'"))
        with pytest.raises(StaleDataError, match=r"\b1\b.*\bStatementRow\b.*\b2\b"):
            change_all(session, [(row, {"number": 2}) for row in rows])


def test_rows_of_two_tables_are_not_written_as_one(store: Store) -> None:
    rows = (
        StatementRow(by="f", key="k", number=1),
        EntryRow(number=8, kind="model", text="{}", leaf=b"", at=AT),
    )
    with pytest.raises(ValueError, match="unpack"), store.write() as session:
        insert(session, *rows)


def test_the_driver_takes_values_as_they_are_each_for_its_row(store: Store) -> None:
    table = StatementRow.__table__  # type: ignore[attr-defined]
    named = table.c.by == bindparam("by_"), table.c.key == bindparam("key_")
    statement = table.update().where(*named).values(number=bindparam("number_"))
    with store.write() as session:
        insert(session, *(StatementRow(by="driver", key=key, number=0) for key in "klm"))
        given = [
            {"by_": "driver", "key_": key, "number_": place} for place, key in enumerate("kl", 1)
        ]
        execute_in_driver(session, statement, given)
    with store.read() as session:
        rows = find_all(session, StatementRow, by="driver")
    assert {row.key: row.number for row in rows} == {"k": 1, "l": 2, "m": 0}
