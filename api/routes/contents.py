"""`/v1/contents`: upload trial content, look at it again."""

from fastapi import APIRouter
from sqlmodel import select

from api import contents
from api.auth.access import AuditorDep
from api.errors import ForbiddenError, NotFoundError, RateLimitedError, UnauthenticatedError
from api.paging import page
from api.problems import responses
from api.routes.parameters import CursorQuery, LimitQuery
from api.service import ReadDep, ServiceDep
from api.store import ContentRow
from openapi.models import Content, ContentDraft, Page

router = APIRouter(
    prefix="/v1/contents",
    tags=["contents"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)


@router.post("", status_code=201, responses=responses(body=True))
def upload_content(draft: ContentDraft, caller: AuditorDep, service: ServiceDep) -> Content:
    """Upload trial content; its digest will stand on every receipt about it."""
    with service.store.write() as session:
        return contents.create(session, caller, draft)


@router.get("")
def list_contents(
    caller: AuditorDep, session: ReadDep, cursor: CursorQuery = None, limit: LimitQuery = 50
) -> Page[Content]:
    """Your contents, newest first."""
    mine = select(ContentRow).where(ContentRow.auditor_id == caller.auditor)
    return page(session, mine, ContentRow.id, contents.view, cursor, limit)


@router.get("/{content_id}", responses=responses(NotFoundError))
def get_content(content_id: str, caller: AuditorDep, session: ReadDep) -> Content:
    """One content of yours."""
    return contents.view(contents.owned(session, caller, content_id))
