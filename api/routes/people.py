"""`/v1/me`: who one is, and one's own key."""

from api.auth import browsers
from api.auth.access import CallerDep
from api.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.ledger import lock
from api.problems import responses
from api.routes.signed import REFUSALS, SignedDep
from api.vetting import people
from api.web.dependencies import OriginDep, ReadDep, SettingsDep, StoreDep
from api.web.routing import router as new_router
from openapi.models import KeyChangeDraft, Me, SignInLink

router = new_router(
    prefix="/v1/me",
    tags=["me"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)


@router.get("")
def get_me(caller: CallerDep, session: ReadDep) -> Me:
    """Who you are here, and the key that you are known by."""
    return people.me(session, caller)


@router.post("/key", status_code=201, responses=responses(*REFUSALS, ConflictError, body=True))
def change_key(
    draft: KeyChangeDraft, caller: CallerDep, store: StoreDep, origin: OriginDep, signed: SignedDep
) -> Me:
    """Use a new key from now on: signed with the old one, proven with the new one."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "researcher-key", draft)
        return people.change_key(session, caller, draft, statement, origin)


@router.post("/console", status_code=201, responses=responses(NotFoundError))
def make_sign_in_link(caller: CallerDep, store: StoreDep, settings: SettingsDep) -> SignInLink:
    """A link that signs you in to the console: it works once, within ten minutes."""
    if not settings.console:
        raise NotFoundError("this service has no console")
    code, until = browsers.make_code(store, caller)
    root = settings.issuer.rstrip("/")
    return SignInLink(url=f"{root}/console/sign-in?code={code}", expires_at=until)
