"""Signed-in person: dependencies that name the role, as `api.identity.roles` does for the API."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.types import Scope

from api.console.rendering import SignInNeededError, form_of, render
from api.console.state import Console, ConsoleDep
from api.identity import sessions
from api.identity.caller import Caller
from api.kernel.errors import ForbiddenError
from openapi.resources import Role


@dataclass(frozen=True)
class PageRequest:
    """One request of a visitor, signed in or not."""

    console: Console
    request: Request
    known: Caller | None

    @property
    def caller(self) -> Caller:
        if self.known is None:
            raise SignInNeededError("Sign in first; nothing was done.")
        return self.known

    def page(self, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
        return render(self.request, template, self.known, status=status, **context)

    def go(self, path: str) -> RedirectResponse:
        """Redirect to this page."""
        return RedirectResponse(self.console.at(path), 303)


@dataclass(frozen=True)
class ConsoleSessions:
    """Sessions of a console, for code that needs the caller before routing."""

    console: Console

    def secret(self, scope: Scope) -> str | None:
        """Return the secret of a session, from a cookie that this service signed."""
        return self.console.cookies.read(Request(scope), "session")

    def caller(self, secret: str) -> Caller | None:
        """Return the caller of a session; None if it has ended. It reads the database."""
        return _caller_of(self.console, secret)


def _caller_of(console: Console, secret: str) -> Caller | None:
    with console.parts.store.read() as session:
        return sessions.load_session_caller(session, secret)


async def _visit(request: Request, console: ConsoleDep) -> PageRequest:
    """Return the visit. Only a session needs a thread: for other visitors nothing is loaded."""
    secret = console.cookies.read(request, "session")
    caller = None
    if secret is not None:
        caller = await run_in_threadpool(_caller_of, console, secret)
        request.state.ended = caller is None
    if caller is not None:
        request.state.caller, request.state.researcher = caller, caller.researcher_id
        console.known.take(caller.researcher_id)
    return PageRequest(console, request, caller)


VisitDep = Annotated[PageRequest, Depends(_visit)]


def _signed_in(visit: VisitDep) -> PageRequest:
    _ = visit.caller
    return visit


def holder_of(role: Role) -> Callable[[PageRequest], PageRequest]:
    def holder(visit: VisitDep) -> PageRequest:
        if visit.caller.role != role:
            raise ForbiddenError(
                f"This page is for the role {role}; you are signed in as {visit.caller.role}."
            )
        return visit

    return holder


SignedInVisit = Annotated[PageRequest, Depends(_signed_in)]
AuditorVisit = Annotated[PageRequest, Depends(holder_of("auditor"))]
RegulatorVisit = Annotated[PageRequest, Depends(holder_of("regulator"))]
OperatorVisit = Annotated[PageRequest, Depends(holder_of("operator"))]
FormDep = Annotated[dict[str, str], Depends(form_of)]
