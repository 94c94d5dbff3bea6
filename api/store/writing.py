"""Rows written at once, where many are: a session's own bookkeeping takes ten times as long.

Nothing waits for a flush here, so what a row refers to must have been written before it.
"""

from functools import cache
from typing import Any, cast

from sqlalchemy import Insert, Table, Update, bindparam, inspect
from sqlalchemy.orm.attributes import set_committed_value
from sqlalchemy.orm.exc import StaleDataError
from sqlmodel import Session, SQLModel


def insert(session: Session, row: SQLModel) -> None:
    """Write a new row, of which the session knows nothing: whoever asks for it reads it."""
    values = {name: value for name, value in vars(row).items() if name in type(row).model_fields}
    session.connection().execute(_insertion(type(row)), values)


def change(session: Session, row: SQLModel, **values: Any) -> None:
    """Write new values of a row that the session has read and locked."""
    keys = {f"{name}_": getattr(row, name) for name in _keys(type(row))}
    altered = session.connection().execute(_alteration(type(row), tuple(values)), keys | values)
    if altered.rowcount != 1:
        raise StaleDataError(f"{altered.rowcount} rows of {type(row).__name__} changed, not one")
    for name, value in values.items():
        set_committed_value(row, name, value)


@cache
def _insertion(row: type[SQLModel]) -> Insert:
    return _table(row).insert()


@cache
def _alteration(row: type[SQLModel], columns: tuple[str, ...]) -> Update:
    table = _table(row)
    this = (table.c[name] == bindparam(f"{name}_") for name in _keys(row))
    return table.update().where(*this).values({name: bindparam(name) for name in columns})


@cache
def _keys(row: type[SQLModel]) -> tuple[str, ...]:
    return tuple(column.name for column in _table(row).primary_key)


def _table(row: type[SQLModel]) -> Table:
    return cast("Table", inspect(row).local_table)
