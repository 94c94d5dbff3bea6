"""`/v1/me`: who one is, and one's own key."""

from api.identity import sessions
from api.identity.roles import CallerDep
from api.kernel.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.ledger import lock
from api.ledger.signed_requests import REFUSALS, SignedDep
from api.vetting import key_changes
from api.web.dependencies import OriginDep, ReadDep, SettingsDep, StoreDep
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import KeyChangeDraft, Me, SignInLink

router = new_router(
    prefix="/v1/me",
    tags=["me"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)


@router.get("")
def get_me(caller: CallerDep, session: ReadDep) -> Me:
    """Who you are here, and the key that you are known by."""
    return key_changes.me(session, caller)


@router.post("/key", status_code=201, responses=responses(*REFUSALS, ConflictError, body=True))
def change_key(
    draft: KeyChangeDraft, caller: CallerDep, store: StoreDep, origin: OriginDep, signed: SignedDep
) -> Me:
    """Use a new key from now on: signed with the old one, proven with the new one."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "researcher-key", draft)
        return key_changes.change_key(session, caller, draft, statement, origin)


@router.post("/console", status_code=201, responses=responses(NotFoundError))
def make_sign_in_link(caller: CallerDep, store: StoreDep, settings: SettingsDep) -> SignInLink:
    """A link that signs you in to the console: it works once, within ten minutes."""
    if not settings.console:
        raise NotFoundError("this service has no console")
    code, until = sessions.make_code(store, caller)
    root = settings.issuer.rstrip("/")
    return SignInLink(url=f"{root}/console/sign-in?code={code}", expires_at=until)
