"""`/v1/contents`: upload and read trial content."""

from api.contents import queries, service
from api.identity.roles import AuditorDep
from api.kernel.errors import (
    ForbiddenError,
    NotFoundError,
    QuotaExceededError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.web.dependencies import ReadDep, SettingsDep, StoreDep
from api.web.parameters import CursorQuery, LimitQuery
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import Content, ContentDraft, Page

router = new_router(
    prefix="/v1/contents",
    tags=["contents"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)


@router.post("", status_code=201, responses=responses(QuotaExceededError, body=True))
def upload_content(
    draft: ContentDraft, caller: AuditorDep, store: StoreDep, settings: SettingsDep
) -> Content:
    """Upload trial content; every receipt about it states its digest."""
    return service.upload_content(store, caller, draft, settings)


@router.get("")
def list_contents(
    caller: AuditorDep, session: ReadDep, cursor: CursorQuery = None, limit: LimitQuery = 50
) -> Page[Content]:
    """List your contents, newest first."""
    return queries.list_contents(session, caller, cursor, limit)


@router.get("/{content_id}", responses=responses(NotFoundError))
def get_content(content_id: str, caller: AuditorDep, session: ReadDep) -> Content:
    """Return one of your contents."""
    return queries.get_content(session, caller, content_id)
