"""Queries of applications: callers see their own; a regulator sees all."""

from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from api.db import ApplicationRow, IndividualRow
from api.identity.caller import Caller
from api.ledger.visibility import HIDDEN_FROM_OPERATORS
from api.vetting import applications
from api.vetting.calendar import Calendar
from api.vetting.views import load_submitted, to_wire
from api.web.pagination import page
from openapi.resources import Application, ApplicationDraft, ApplicationState, Page


def list_applications(
    session: Session,
    caller: Caller,
    calendar: Calendar,
    state: ApplicationState | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Application]:
    """Return the applications that the caller may see, newest first."""
    query = _visible(caller)
    if state is not None:
        query = query.where(ApplicationRow.state == state)
    shown = page(
        session,
        query,
        ApplicationRow.id,
        lambda row: to_wire(session, row, calendar),
        cursor,
        limit,
    )
    return Page[Application](items=shown.items, next=shown.next)


def get_application(
    session: Session, caller: Caller, calendar: Calendar, application_id: str
) -> Application:
    """Return an application in its present state, with its history and its deadline."""
    return to_wire(session, applications.get_visible(session, caller, application_id), calendar)


def get_application_draft(
    session: Session, caller: Caller, application_id: str
) -> ApplicationDraft:
    """Return the newest version as it was submitted, including its salts."""
    return load_submitted(session, applications.get_visible(session, caller, application_id))


def _visible(caller: Caller) -> SelectOfScalar[ApplicationRow]:
    if caller.role == "regulator":
        return select(ApplicationRow)
    if caller.role == "operator":
        return select(ApplicationRow).where(col(ApplicationRow.state).not_in(HIDDEN_FROM_OPERATORS))
    mine = select(IndividualRow.application_id).where(
        IndividualRow.researcher_id == caller.researcher_id
    )
    return select(ApplicationRow).where(col(ApplicationRow.id).in_(mine))
