"""Visibility of entries: regulators see all, researchers those that concern them.

Operators see all except the entries of applications that the platform must not see: those that are
not decided yet, and those that were withdrawn or refused.  [DR, Article 10(2)]
"""

from sqlalchemy import ColumnElement
from sqlmodel import col, or_, select
from sqlmodel.sql.expression import SelectOfScalar

from api.db import ApplicationEventRow, ApplicationRow, EntryRow
from api.identity.caller import Caller
from api.kernel.errors import ForbiddenError

# Statements of the platform about itself are visible to all.
TO_ALL = ("model", "settings", "signing-key", "kind-enabled")
# The platform may see a grant, but no application without one  [DR, Article 10(2)].
HIDDEN_FROM_OPERATORS = ("submitted", "changes-requested", "withdrawn", "refused")


def select_visible_entries(caller: Caller) -> SelectOfScalar[EntryRow]:
    """Return the query for the entries that the caller may see."""
    if caller.role == "operator":
        return select(EntryRow).where(col(EntryRow.number).not_in(_hidden_from_operators()))
    return select(EntryRow).where(*is_visible_to(require_export_scope(caller)))


def require_export_scope(caller: Caller) -> str | None:
    """Return the auditor whose entries the caller exports; None for a regulator's whole ledger."""
    if caller.role == "operator":
        raise ForbiddenError(
            "Only regulators export the whole ledger: it holds applications that the platform "
            "must not see. List entries with GET /v1/ledger/entries."
        )
    return None if caller.role == "regulator" else caller.auditor


def _hidden_from_operators() -> SelectOfScalar[int]:
    return (
        select(ApplicationEventRow.number)
        .join(ApplicationRow, col(ApplicationRow.id) == col(ApplicationEventRow.application_id))
        .where(col(ApplicationRow.state).in_(HIDDEN_FROM_OPERATORS))
    )


def is_visible_to(auditor_id: str | None) -> list[ColumnElement[bool]]:
    if auditor_id is None:
        return []
    # A new application has no auditor yet; once approved, it names its auditor.
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
