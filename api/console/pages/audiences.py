"""Pages of audiences: a list, and an upload that the browser prepares.

The browser normalises and hashes identifiers, and replaces names of groups with labels, before it
sends anything (static/audience.js). This page receives what the SDK would send.
"""

from typing import Annotated

from fastapi import Header, Request
from fastapi.responses import Response

from api.audiences import queries, service
from api.audiences.part_upload import PartUpload
from api.console.rendering import pages
from api.console.security.current_user import AuditorVisit
from api.web.dependencies import ReadDep
from api.web.parameters import CursorQuery, LabelPath, PartQuery
from openapi.resources import Audience, AudienceDraft, Part, Seal

router = pages()


@router.get("/audiences")
def list_audiences(visit: AuditorVisit, session: ReadDep, cursor: CursorQuery = None) -> Response:
    """List the uploaded audiences, newest first, with the form for a new file."""
    found = queries.list_audiences(session, visit.caller, cursor)
    return visit.page("audiences.html", audiences=found)


@router.post("/audiences", status_code=201)
def create_audience(draft: AudienceDraft, visit: AuditorVisit) -> Audience:
    parts = visit.console.parts
    return service.create_audience(parts.store, visit.caller, draft, parts.settings)


@router.put("/audiences/{audience_id}/groups/{label}/members")
async def put_members(
    audience_id: str,
    label: LabelPath,
    request: Request,
    visit: AuditorVisit,
    part: PartQuery = 0,
    content_type: Annotated[str, Header()] = "",
    content_digest: Annotated[str | None, Header(max_length=200)] = None,
) -> Part:
    upload = PartUpload(
        visit.console.parts.uploads,
        visit.caller,
        audience_id,
        label,
        part,
        content_type,
        content_digest,
    )
    return await upload.receive(request.stream())


@router.post("/audiences/{audience_id}/seal")
async def seal_audience(audience_id: str, seal: Seal, visit: AuditorVisit) -> Audience:
    uploads = visit.console.parts.uploads
    return await service.seal_audience(uploads, visit.caller, audience_id, seal)
