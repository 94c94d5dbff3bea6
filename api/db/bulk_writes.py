"""Bulk writes of rows: the bookkeeping of a session takes ten times as long.

Nothing waits for a flush here, so the rows that a row refers to must be written before it.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from sqlalchemy import Dialect, Insert, Table, Update, bindparam, inspect
from sqlalchemy.orm.attributes import set_committed_value
from sqlalchemy.orm.exc import StaleDataError
from sqlmodel import Session, SQLModel


def insert(session: Session, *rows: SQLModel) -> None:
    """Write new rows of one table; the session does not know them, so a later use reads them."""
    if rows:
        [table] = {type(row) for row in rows}
        session.connection().execute(_insertion(table), _given([_values(row) for row in rows]))


def change(session: Session, row: SQLModel, **values: Any) -> None:
    """Write new values of a row that the session has read and locked."""
    change_all(session, [(row, values)])


def change_all(session: Session, changes: Sequence[tuple[SQLModel, Mapping[str, Any]]]) -> None:
    """Write new values of the same columns, for rows of one table that were read and locked."""
    if not changes:
        return
    [table] = {type(row) for row, _ in changes}
    [columns] = {tuple(values) for _, values in changes}
    given = [{**_named(row), **values} for row, values in changes]
    altered = session.connection().execute(_alteration(table, columns), _given(given)).rowcount
    if altered != len(changes):
        raise StaleDataError(f"{altered} rows of {table.__name__} changed, not {len(changes)}")
    for row, values in changes:
        for name, value in values.items():
            set_committed_value(row, name, value)


def execute_in_driver(
    session: Session, statement: Update, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Execute the statement for each of these rows, whose values the driver accepts unchanged.

    SQLAlchemy would process each value of each row, which takes longer than writing it.
    """
    connection = session.connection()
    text, order = _written(statement, connection.dialect)
    given = rows if order is None else [tuple(map(row.__getitem__, order)) for row in rows]
    connection.exec_driver_sql(text, given)


@cache
def _written(statement: Update, dialect: Dialect) -> tuple[str, Sequence[str] | None]:
    """Return the statement in the driver's syntax, and the order of its values if they have no
    names.
    """
    compiled = statement.compile(dialect=dialect)
    return compiled.string, compiled.positiontup


def _given(rows: list[dict[str, Any]]) -> dict[str, Any] | list[dict[str, Any]]:
    """Return a single row without its list, because drivers take more steps for a list."""
    return rows[0] if len(rows) == 1 else rows


def _values(row: SQLModel) -> dict[str, Any]:
    return {name: value for name, value in vars(row).items() if name in type(row).model_fields}


def _named(row: SQLModel) -> dict[str, Any]:
    return {f"{name}_": getattr(row, name) for name in _keys(type(row))}


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
