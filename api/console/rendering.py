"""Rendering shared by all pages: security headers, tokens against forged forms, and error pages."""

import hmac
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from api.console.navigation import entries
from api.console.security.cookies import new_visit
from api.console.state import console_of
from api.db import UNAVAILABLE
from api.identity.caller import Caller
from api.kernel.errors import ApiError, ForbiddenError, InvalidRequestError, UnavailableError
from api.web.routing import Route
from openapi.complaints import what_is_wrong
from openapi.problems import TABLE

# Nothing inline, nothing from other sites, no evaluated code, and no framing.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
TOKEN_HEADER = "X-Form-Token"  # noqa: S105
TOKEN_FIELD = "token"  # noqa: S105
_VISIT_SECONDS = 24 * 3600

# Titles for browsers, where those of the API mention tokens.
_TITLES = {
    "unauthenticated": "You are not signed in",
    "forbidden": "You may not see this",
    "not-found": "There is nothing here",
}

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class SignInNeededError(ApiError):
    """The caller must sign in first; the browser is redirected to the sign-in page."""

    code = "unauthenticated"


class PageRoute(Route):
    """Route of the console, with a check before it and our headers after it."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                await refuse_foreign(request)
                response = await handle(request)
            except (ApiError, RequestValidationError, HTTPException, *UNAVAILABLE) as error:
                if "text/html" not in request.headers.get("accept", ""):
                    raise
                response = _told(request, error)
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            response.headers.setdefault("Cache-Control", "no-store")
            return response

        return handler


def pages() -> APIRouter:
    """Return a router whose routes are pages; none of them is in the OpenAPI document."""
    return APIRouter(prefix="/console", route_class=PageRoute, include_in_schema=False)


async def refuse_foreign(request: Request) -> None:
    """Refuse changes that do not come from one of our pages, in the same session."""
    if request.method in ("GET", "HEAD"):
        return
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise ForbiddenError("Another site sent this request. Nothing was done.")
    cookies = console_of(request).cookies
    seed = cookies.read(request, "session") or cookies.read(request, "visit")
    sent = request.headers.get(TOKEN_HEADER) or (await form_of(request)).get(TOKEN_FIELD, "")
    if seed is None or not hmac.compare_digest(sent.encode(), cookies.token(seed).encode()):
        raise ForbiddenError(
            "The form belongs to an earlier session. Nothing was done. Reload the page and send it."
        )


async def form_of(request: Request) -> dict[str, str]:
    """Return the fields of a form; nothing for a body of another type."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return {}
    try:
        text = (await request.body()).decode()
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=128, errors="strict")
    except ValueError as error:
        raise InvalidRequestError("The form cannot be read. Nothing was done.") from error
    return {name: values[-1] for name, values in fields.items()}


def render(
    request: Request,
    template: str,
    caller: Caller | None,
    *,
    status: int = 200,
    **context: Any,
) -> HTMLResponse:
    """Render a page with the token for its forms.

    Set a visit's cookie if there is no session or visit.
    """
    console = console_of(request)
    cookies = console.cookies
    ended = getattr(request.state, "ended", False)
    secret = None if ended else cookies.read(request, "session")
    seed = secret or cookies.read(request, "visit") or new_visit()
    text = console.templates.get_template(template).render(
        caller=caller,
        navigation=entries(caller),
        here=request.url.path,
        token=cookies.token(seed),
        **context,
    )
    response = HTMLResponse(text, status)
    if secret is None:
        cookies.write(response, "visit", seed, _VISIT_SECONDS)
    if ended:
        cookies.clear(response, "session")
    return response


def _told(request: Request, error: Exception) -> Response:
    console = console_of(request)
    if isinstance(error, SignInNeededError) and request.method == "GET":
        return RedirectResponse(console.at("/sign-in"), 303)
    title, detail, status = _words(error)
    caller: Caller | None = getattr(request.state, "caller", None)
    response = render(request, "error.html", caller, status=status, title=title, detail=detail)
    response.headers.update(getattr(error, "headers", None) or {})
    return response


def _words(error: Exception) -> tuple[str, str, int]:
    """Return the title, detail and status of an error."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"][1:])
        error = InvalidRequestError(f"{where}: {what_is_wrong(first)}. Nothing was done.")
    elif isinstance(error, UNAVAILABLE):
        error = UnavailableError("The database does not answer. Nothing was lost. Try again.")
    if isinstance(error, HTTPException):
        return "This cannot be done", str(error.detail), error.status_code
    assert isinstance(error, ApiError)  # noqa: S101
    status, title = TABLE[error.code]
    return _TITLES.get(error.code, title), error.detail, status
