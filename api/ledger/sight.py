"""Who sees which entries: regulators and the operator all, researchers what concerns them."""

from sqlalchemy import ColumnElement
from sqlmodel import col, or_, select
from sqlmodel.sql.expression import SelectOfScalar

from api.auth.caller import Caller
from api.store import ApplicationEventRow, ApplicationRow, EntryRow

# What the platform says of itself is for all.
TO_ALL = ("model", "settings", "signing-key")


def visible(caller: Caller) -> SelectOfScalar[EntryRow]:
    return select(EntryRow).where(*visible_to(sight_of(caller)))


def sight_of(caller: Caller) -> str | None:
    """The auditor whose entries the caller sees; None for all of them."""
    return None if caller.role in ("regulator", "operator") else caller.auditor


def visible_to(auditor_id: str | None) -> list[ColumnElement[bool]]:
    if auditor_id is None:
        return []
    # An application is of no auditor yet when it comes in; approved, it says who the auditor is.
    applied_with = (
        select(ApplicationEventRow.number)
        .join(ApplicationRow, col(ApplicationRow.id) == col(ApplicationEventRow.application_id))
        .where(ApplicationRow.auditor_id == auditor_id)
    )
    return [
        or_(
            col(EntryRow.auditor_id) == auditor_id,
            col(EntryRow.kind).in_(TO_ALL),
            col(EntryRow.number).in_(applied_with),
        )
    ]
