"""Rows by the values of their columns: those and no others, and as they are when locked."""

from collections.abc import Iterator

import pytest
from sqlmodel import Session, col, update

from api.db import AuditorRow, Store, find, find_all, find_one
from api.kernel.clock import now


@pytest.fixture
def names(store: Store) -> Iterator[list[str]]:
    rows = [AuditorRow(id=f"auditor_{n}", name=f"lab {n % 2}", created_at=now()) for n in range(4)]
    with store.write() as session:
        session.add_all(rows)
    yield [row.id for row in rows]
    with store.write() as session:
        for row in rows:
            session.delete(row)


def test_all_values_must_be_equal(store: Store, names: list[str]) -> None:
    with store.read() as session:
        found = find_all(session, AuditorRow, name="lab 1")
        assert {row.id for row in found} == {names[1], names[3]}
        assert find_one(session, AuditorRow, id=names[3], name="lab 1").id == names[3]
        assert find(session, AuditorRow, id=names[3], name="lab 0") is None
        # The question is the same, what it asks for is not.
        assert {row.id for row in find_all(session, AuditorRow, name="lab 0")} == {*names[::2]}


def test_what_is_locked_is_read_anew(store: Store, names: list[str]) -> None:
    with store.write() as session:
        seen = find_one(session, AuditorRow, id=names[0])
        changed_behind_its_back(session, names[0])
        assert seen.name == "lab 0"
        assert find_one(session, AuditorRow, id=names[0]).name == "lab 0"
        locked = find(session, AuditorRow, lock=True, id=names[0])
        assert locked is seen
        assert seen.name == "another"


def changed_behind_its_back(session: Session, name: str) -> None:
    mine = col(AuditorRow.id) == name
    session.connection().execute(update(AuditorRow).where(mine).values(name="another"))
