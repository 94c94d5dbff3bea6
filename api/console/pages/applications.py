"""Pages of applications for regulators: those that need a decision, and each one in full."""

from typing import Annotated, get_args

from fastapi import Query
from fastapi.responses import Response
from sqlmodel import Session, col, select

from api.console.rendering import pages
from api.console.security.current_user import RegulatorVisit
from api.db import ApplicationRow
from api.vetting import queries
from api.vetting.calendar import Calendar
from api.vetting.dependencies import CalendarDep
from api.vetting.state_machine import CHANGES, PERIODS
from api.vetting.views import to_wire
from api.web.dependencies import ReadDep
from api.web.parameters import CursorQuery
from openapi.resources import Application, ApplicationState

router = pages()

# States in which somebody other than the platform must act before a deadline.
WAITING = tuple(state for state, period in PERIODS.items() if period.who != "operator")
_SHOWN = 25


@router.get("/regulator/applications")
def list_applications(
    visit: RegulatorVisit,
    session: ReadDep,
    calendar: CalendarDep,
    state: Annotated[ApplicationState | None, Query()] = None,
    cursor: CursorQuery = None,
) -> Response:
    """List waiting applications, the most urgent first; then all, newest first."""
    return visit.page(
        "regulator/applications.html",
        waiting=list_waiting(session, calendar),
        found=queries.list_applications(session, visit.caller, calendar, state, cursor, _SHOWN),
        state=state,
        states=get_args(ApplicationState),
    )


@router.get("/regulator/applications/{application_id}")
def show_application(
    application_id: str, visit: RegulatorVisit, session: ReadDep, calendar: CalendarDep
) -> Response:
    """Show one application in full, with the decisions that are possible now."""
    application = queries.get_application(session, visit.caller, calendar, application_id)
    return visit.page(
        "regulator/application.html", application=application, events=events(application)
    )


def events(application: Application) -> list[str]:
    """Return the events that a regulator may cause now, in the order of the table."""
    return [
        event
        for (state, event), change in CHANGES.items()
        if state == application.state and "regulator" in change.by
    ]


def list_waiting(session: Session, calendar: Calendar) -> list[Application]:
    """Return the applications that need a decision, the most urgent first."""
    query = select(ApplicationRow).where(col(ApplicationRow.state).in_(WAITING))
    rows = session.exec(query.order_by(col(ApplicationRow.due)).limit(_SHOWN))
    return [to_wire(session, row, calendar) for row in rows]
