"""Lookups of rows by the values of some columns. Each query is built once and cached."""

from functools import cache
from typing import Any, TypeVar

from sqlalchemy import bindparam
from sqlmodel import Session, SQLModel, col, select
from sqlmodel.sql.expression import SelectOfScalar

Row = TypeVar("Row", bound=SQLModel)


def find(session: Session, row: type[Row], *, lock: bool = False, **values: Any) -> Row | None:
    """Return the first row with these values, locked on request."""
    return session.exec(_question(row, tuple(values), lock), params=values).first()


def find_one(session: Session, row: type[Row], **values: Any) -> Row:
    """Return the one row with these values."""
    found: Row = session.exec(_question(row, tuple(values), False), params=values).one()
    return found


def find_all(session: Session, row: type[Row], **values: Any) -> list[Row]:
    """Return all rows with these values, in no order."""
    return list(session.exec(_question(row, tuple(values), False), params=values))


@cache
def _question(row: type[Row], columns: tuple[str, ...], lock: bool) -> SelectOfScalar[Row]:
    query = select(row).where(*(col(getattr(row, name)) == bindparam(name) for name in columns))
    # A locked row is read again, even if the session has read it before.
    return query.with_for_update().execution_options(populate_existing=True) if lock else query
