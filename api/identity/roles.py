"""Roles that may call a route, as dependencies.

`AuditorDep`, `RegulatorDep` and `OperatorDep` are the caller, who has that role; `CallerDep` is a
caller of any role. The OpenAPI document shows the scope that each route needs.

FastAPI runs each of these in a thread, and then the route in another. `AuditorDoor` is for routes
that are called with every audit. It is not a caller yet: the route calls it in its own thread.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.openapi.models import OAuthFlowClientCredentials, OAuthFlows
from fastapi.security import OAuth2

from api.identity.caller import Caller
from api.identity.metadata import TOKEN_PATH
from api.identity.wiring import Auth
from api.kernel.errors import ForbiddenError, RateLimitedError, UnauthenticatedError
from openapi.resources import Role

SCOPES: dict[str, str] = {
    "auditor": "Plan, upload and run audits.",
    "regulator": "Vet auditors, grant mandates and watch every charge.",
    "operator": "Run the service.",
    "applicant": "See, change and withdraw one's own application.",
}

_scheme = OAuth2(
    flows=OAuthFlows(
        clientCredentials=OAuthFlowClientCredentials(tokenUrl=TOKEN_PATH, scopes=SCOPES)
    ),
    scheme_name="OAuth2",
    description="Client credentials with a signed assertion (private_key_jwt, RFC 7523).",
    auto_error=False,
)


async def auth_of(request: Request) -> Auth:
    """Return the parts of authentication; async, because without waiting it needs no thread."""
    auth: Auth = request.app.state.auth
    return auth


AuthDep = Annotated[Auth, Depends(auth_of)]
Authorization = Annotated[str | None, Depends(_scheme)]


def authenticate(request: Request, authorization: Authorization) -> Caller:
    """Return the caller of a request; not async, because it reads the database in a thread."""
    early: Caller | None = getattr(request.state, "bearer_caller", None)
    if early is not None:
        return early
    auth: Auth = request.app.state.auth
    state = request.scope.setdefault("state", {})
    return _authenticate(auth.authenticator.authenticate, state, authorization)


def authenticate_early(
    verify: Callable[[str], Caller], state: dict[str, Any], authorization: str
) -> Caller:
    """Authenticate before the request's body is read, and keep the caller in the state."""
    caller = _authenticate(verify, state, authorization)
    state["bearer_caller"] = caller
    return caller


def _authenticate(
    verify: Callable[[str], Caller], state: dict[str, Any], authorization: str | None
) -> Caller:
    if authorization is None:
        raise UnauthenticatedError(
            "Send an access token: Authorization: Bearer <token>.", sent=False
        )
    scheme, _, bearer = authorization.partition(" ")
    if scheme.lower() != "bearer" or not bearer.strip():
        raise UnauthenticatedError("The Authorization header must be: Bearer <token>.")
    # The access log names the researcher.
    try:
        caller = verify(bearer.strip())
    except RateLimitedError as error:
        state["researcher"] = error.researcher_id
        raise
    state["researcher"] = caller.researcher_id
    return caller


CallerDep = Annotated[Caller, Security(authenticate)]


LazyCaller = Callable[[], Caller]


def _holder_of(role: Role) -> Callable[[Request, str | None], Caller]:
    def holder(request: Request, authorization: Authorization) -> Caller:
        caller = authenticate(request, authorization)
        if caller.role == role:
            return caller
        raise ForbiddenError(
            f"This needs the scope {role}; the token has the scope {caller.role}.",
            headers={"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{role}"'},
            needed_scope=role,
        )

    return holder


def _door_of(role: Role) -> Callable[[Request, str | None], Awaitable[LazyCaller]]:
    holder = _holder_of(role)

    async def door(request: Request, authorization: Authorization) -> LazyCaller:
        return partial(holder, request, authorization)

    return door


AuditorDep = Annotated[Caller, Security(_holder_of("auditor"), scopes=["auditor"])]
RegulatorDep = Annotated[Caller, Security(_holder_of("regulator"), scopes=["regulator"])]
OperatorDep = Annotated[Caller, Security(_holder_of("operator"), scopes=["operator"])]
AuditorDoor = Annotated[LazyCaller, Security(_door_of("auditor"), scopes=["auditor"])]
