"""`/v1/applications`: apply without an account, then see, change and withdraw your application."""

from typing import Annotated

from fastapi import Query, Request

from api.identity.roles import CallerDep
from api.kernel.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.ledger.signed_requests import REFUSALS, SignedDep
from api.vetting import queries, service
from api.vetting.dependencies import CalendarDep, StrangersDep
from api.web.dependencies import ReadDep, SettingsDep, StoreDep
from api.web.parameters import CursorQuery, LimitQuery
from api.web.problem_responses import responses
from api.web.request_head import network_of
from api.web.routing import router as new_router
from openapi.resources import Application, ApplicationDraft, ApplicationState, Page, WithdrawalDraft

router = new_router(prefix="/v1/applications", tags=["applications"])
_ROLE = responses(UnauthenticatedError, ForbiddenError, RateLimitedError)
_SIGNED = _ROLE | responses(*REFUSALS, NotFoundError, ConflictError, body=True)
StateQuery = Annotated[ApplicationState | None, Query(description="Only those in this state.")]


@router.post(
    "",
    status_code=201,
    responses=responses(*REFUSALS, ConflictError, RateLimitedError, body=True),
)
def send_application(
    draft: ApplicationDraft,
    request: Request,
    store: StoreDep,
    settings: SettingsDep,
    calendar: CalendarDep,
    strangers: StrangersDep,
    signed: SignedDep,
) -> Application:
    """Apply for access. No token is needed: the application is signed with the key that it
    contains.
    """
    strangers.take(network_of(request.client.host if request.client else "unknown"))
    return service.send_application(store, draft, signed, calendar, settings)


@router.get("", responses=_ROLE)
def list_applications(
    caller: CallerDep,
    session: ReadDep,
    calendar: CalendarDep,
    state: StateQuery = None,
    cursor: CursorQuery = None,
    limit: LimitQuery = 50,
) -> Page[Application]:
    """List the applications that you may see, newest first: your own; a regulator sees all."""
    return queries.list_applications(session, caller, calendar, state, cursor, limit)


@router.get("/{application_id}", responses=_ROLE | responses(NotFoundError))
def get_application(
    application_id: str, caller: CallerDep, session: ReadDep, calendar: CalendarDep
) -> Application:
    """Return an application in its present state, with its history and its deadline."""
    return queries.get_application(session, caller, calendar, application_id)


@router.get("/{application_id}/draft", responses=_ROLE | responses(NotFoundError, ConflictError))
def get_application_draft(
    application_id: str, caller: CallerDep, session: ReadDep
) -> ApplicationDraft:
    """Return the newest version as submitted, with its salts: the version that a decision is
    about.
    """
    return queries.get_application_draft(session, caller, application_id)


@router.post("/{application_id}/versions", status_code=201, responses=_SIGNED)
def answer_application(
    application_id: str,
    draft: ApplicationDraft,
    caller: CallerDep,
    store: StoreDep,
    calendar: CalendarDep,
    signed: SignedDep,
) -> Application:
    """Send a new version after the regulator requested changes, signed by the principal
    applicant.
    """
    return service.answer_application(store, caller, application_id, draft, signed, calendar)


@router.post("/withdrawals", status_code=201, responses=_SIGNED)
def withdraw_application(
    draft: WithdrawalDraft,
    caller: CallerDep,
    store: StoreDep,
    calendar: CalendarDep,
    signed: SignedDep,
) -> Application:
    """Withdraw an application that is not decided, signed by the principal applicant."""
    return service.withdraw_application(store, caller, draft, signed, calendar)
