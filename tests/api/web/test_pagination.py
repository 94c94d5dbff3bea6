"""Lists, a page at a time: everything once, newest first, whatever is added meanwhile."""

from datetime import UTC, datetime

import pytest
from sqlmodel import Session, delete, select

from api.accounts.service import auditor_to_wire
from api.db import AuditorRow, EntryRow, LedgerEndRow, Store
from api.ledger import append
from api.ledger import to_wire as entry_view
from api.web.pagination import page
from openapi.resources import Auditor, Page

NAMES = [f"auditor_{number:030x}" for number in range(7)]


@pytest.fixture
def session(store: Store) -> Session:
    """A transaction that is never committed."""
    session = Session(store.engine)
    session.exec(delete(AuditorRow))
    add(session, *NAMES)
    return session


def add(session: Session, *names: str) -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    session.add_all(AuditorRow(id=name, name="Lab", created_at=at) for name in names)
    session.flush()


def get(session: Session, cursor: str | None, limit: int) -> Page[Auditor]:
    return page(session, select(AuditorRow), AuditorRow.id, auditor_to_wire, cursor, limit)


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8, 500])
def test_pages_hold_everything_once_newest_first(session: Session, limit: int) -> None:
    seen: list[str] = []
    cursor: str | None = None
    with session:
        for _ in range(10):
            found = get(session, cursor, limit)
            assert len(found.items) <= limit
            seen += [item.id for item in found.items]
            cursor = found.next
            if cursor is None:
                break
    assert seen == NAMES[::-1]


def test_what_is_added_meanwhile_does_not_shift_the_pages(session: Session) -> None:
    with session:
        first = get(session, None, 3)
        add(session, f"auditor_{99:030x}")
        second = get(session, first.next, 3)
    assert [item.id for item in first.items + second.items] == NAMES[:0:-1]


def test_a_cursor_before_everything_is_an_empty_last_page(session: Session) -> None:
    with session:
        found = get(session, "auditor_", 3)
    assert (found.items, found.next) == ([], None)


def test_the_ledger_is_paged_by_number_not_by_digits(store: Store) -> None:
    with Session(store.engine) as session:
        for number in range(12):
            append(session, "test", {"n": number})
        query, key = select(EntryRow), EntryRow.number
        first = page(session, query, key, entry_view, None, 5)
        second = page(session, query, key, entry_view, int(first.next or 0), 5)
        assert [entry.number for entry in first.items] == [11, 10, 9, 8, 7]
        assert [entry.number for entry in second.items] == [6, 5, 4, 3, 2]
        assert session.exec(select(LedgerEndRow.size)).one() == 12
