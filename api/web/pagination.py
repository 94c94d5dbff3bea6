"""Pages of lists: newest first, by cursor."""

from collections.abc import Callable
from typing import Any, TypeVar

from sqlmodel import Session, col
from sqlmodel.sql.expression import SelectOfScalar

from openapi.resources import Page, Wire

Row = TypeVar("Row")
View = TypeVar("View", bound=Wire)


def page(
    session: Session,
    query: SelectOfScalar[Row],
    key: Any,
    view: Callable[[Row], View],
    cursor: Any,
    limit: int,
) -> Page[View]:
    """Return the rows below the cursor in the order of `key`, which is unique and grows with
    age.
    """
    if cursor is not None:
        query = query.where(col(key) < cursor)
    rows = list(session.exec(query.order_by(col(key).desc()).limit(limit + 1)))
    more = len(rows) > limit
    rows = rows[:limit]
    following = str(getattr(rows[-1], key.key)) if more else None
    return Page(items=[view(row) for row in rows], next=following)
