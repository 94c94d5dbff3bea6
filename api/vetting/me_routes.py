"""`/v1/me`: the caller's account and key."""

from api.identity import sessions
from api.identity.roles import CallerDep
from api.kernel.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.ledger.signed_requests import REFUSALS, SignedDep
from api.vetting import key_changes, service
from api.web.dependencies import ReadDep, SettingsDep, StoreDep
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
    """Return your account, with the key that is registered for you."""
    return key_changes.get_account(session, caller)


@router.post("/key", status_code=201, responses=responses(*REFUSALS, ConflictError, body=True))
def change_key(draft: KeyChangeDraft, caller: CallerDep, store: StoreDep, signed: SignedDep) -> Me:
    """Register a new key: the request is signed with the old one, and proven with the new one."""
    return service.change_key(store, caller, draft, signed)


@router.post("/console", status_code=201, responses=responses(NotFoundError))
def make_sign_in_link(caller: CallerDep, store: StoreDep, settings: SettingsDep) -> SignInLink:
    """Create a link that signs you in to the console: it works once, within ten minutes."""
    return sessions.make_sign_in_link(store, caller, settings)
