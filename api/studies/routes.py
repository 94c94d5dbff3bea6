"""`/v1/studies`: register a study by the digest of its file, before it runs."""

from api.identity.roles import AuditorDep
from api.kernel.errors import ForbiddenError, RateLimitedError, UnauthenticatedError
from api.ledger.signed_requests import REFUSALS, SignedDep
from api.studies import service
from api.web.dependencies import ReadDep, StoreDep
from api.web.parameters import LimitQuery, NumberCursor
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import Page, Registration, RegistrationDraft

router = new_router(
    prefix="/v1/studies",
    tags=["studies"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)


@router.post("", status_code=201, responses=responses(*REFUSALS, body=True))
def register_study(
    draft: RegistrationDraft, caller: AuditorDep, store: StoreDep, signed: SignedDep
) -> Registration:
    """Record in the ledger that this study was written before it ran.

    The same digest again returns the first registration, and adds no entry.
    """
    return service.register_study(store, caller, draft, signed)


@router.get("")
def list_studies(
    caller: AuditorDep, session: ReadDep, cursor: NumberCursor = None, limit: LimitQuery = 50
) -> Page[Registration]:
    """List your registered studies, newest first."""
    return service.list_studies(session, caller, cursor, limit)
