"""Pages for sign-in, by a one-time code of the `auditor` command or an identity provider, and
sign-out.
"""

from typing import Annotated

from fastapi import Query
from fastapi.responses import RedirectResponse, Response

from api.console.rendering import pages
from api.console.security.current_user import FormDep, PageRequest, VisitDep
from api.console.security.oidc_sign_in import OutsideSignIn, SignInAttempt
from api.console.state import Console
from api.identity import sessions
from api.kernel.errors import NotFoundError, UnauthenticatedError
from api.web.dependencies import ReadDep

router = pages()

CodeQuery = Annotated[str | None, Query(max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]
_ASKED_SECONDS = 600


@router.get("/sign-in")
def show_sign_in(visit: VisitDep, session: ReadDep, code: CodeQuery = None) -> Response:
    """Show the account that the code would sign in, and a button.

    Opening the link does not use the code.
    """
    holder = sessions.load_holder(session, code) if code else None
    outside = visit.console.outside
    return visit.page(
        "sign_in.html",
        code=code,
        holder=holder,
        provider=outside.name if outside else None,
    )


@router.post("/sign-in")
def sign_in(visit: VisitDep, form: FormDep) -> Response:
    """Use the code and open a session."""
    secret = sessions.use_code(visit.console.parts.store, form.get("code", ""))
    return _welcome(visit, secret)


@router.post("/sign-out")
def sign_out(visit: VisitDep) -> Response:
    """End the session, here and in the database."""
    console = visit.console
    if secret := console.cookies.read(visit.request, "session"):
        sessions.close_session(console.parts.store, secret)
    response = visit.go("")
    console.cookies.clear(response, "session")
    return response


@router.get("/sign-in/outside/begin")
def begin_outside(visit: VisitDep) -> Response:
    """Redirect to the identity provider."""
    asked = SignInAttempt.fresh()
    response = RedirectResponse(_provider(visit.console).begin(asked), 303)
    visit.console.cookies.write(response, "outside", asked.pack(), _ASKED_SECONDS)
    return response


@router.get("/sign-in/outside")
def finish_outside(visit: VisitDep) -> Response:
    """Handle the return from the identity provider."""
    console = visit.console
    packed = console.cookies.read(visit.request, "outside")
    if packed is None:
        raise UnauthenticatedError(
            "This browser did not start a sign-in, or too long ago. Sign in again."
        )
    store = console.parts.store
    caller = _provider(console).finish(visit.request.url.query, SignInAttempt.unpack(packed), store)
    with store.write() as session:
        secret = sessions.open_session(session, caller)
    response = _welcome(visit, secret)
    console.cookies.clear(response, "outside")
    return response


def _provider(console: Console) -> OutsideSignIn:
    if console.outside is None:
        raise NotFoundError("This service has no outside identity provider to sign in at.")
    return console.outside


def _welcome(visit: PageRequest, secret: str) -> Response:
    seconds = int(sessions.SESSION_LIFETIME.total_seconds())
    response = visit.go("")
    visit.console.cookies.write(response, "session", secret, seconds)
    visit.console.cookies.clear(response, "visit")
    return response
