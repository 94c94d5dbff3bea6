"""`/v1/audiences`: upload people by group, seal them, or request a sample from the platform."""

from typing import Annotated

from fastapi import Header, Request, Response

from api.audiences import queries, sampling, service
from api.audiences.dependencies import UploadDep
from api.audiences.media_types import MEDIA_TYPES
from api.audiences.part_upload import PartUpload
from api.identity.roles import AuditorDep
from api.kernel.errors import (
    AudienceSealedError,
    AudienceTooLargeError,
    ConflictError,
    DigestMismatchError,
    EmptyGroupError,
    ForbiddenError,
    MalformedMembersError,
    MatchingQuotaError,
    NotFoundError,
    PartsLostError,
    QuotaExceededError,
    RateLimitedError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnavailableSampleError,
    UnsupportedMediaTypeError,
)
from api.web.dependencies import PlatformDep, ReadDep, SettingsDep, StoreDep
from api.web.parameters import CursorQuery, LabelPath, LimitQuery, PartQuery
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import Audience, AudienceDraft, HiddenDraft, Page, Part, SampleDraft, Seal

router = new_router(
    prefix="/v1/audiences",
    tags=["audiences"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            media_type: {
                "schema": {"type": "string", "format": "binary"},
                "examples": {"members": {"value": "username\nada\ngrace\n"}}
                if media_type == "text/csv"
                else {},
            }
            for media_type in MEDIA_TYPES
        },
    }
}


@router.post("", status_code=201, responses=responses(QuotaExceededError, body=True))
def create_audience(
    draft: AudienceDraft, caller: AuditorDep, store: StoreDep, settings: SettingsDep
) -> Audience:
    """Open an audience with empty groups."""
    return service.create_audience(store, caller, draft, settings)


@router.post(
    "/samples",
    status_code=201,
    responses=responses(UnavailableSampleError, UnavailableError, QuotaExceededError, body=True),
)
def sample_audience(
    draft: SampleDraft,
    caller: AuditorDep,
    store: StoreDep,
    settings: SettingsDep,
    platform: PlatformDep,
) -> Audience:
    """Have the platform draw people who declared an attribute to it. You receive only a handle."""
    return sampling.draw(store, caller, draft, platform.people, settings)


@router.post(
    "/hidden",
    status_code=201,
    responses=responses(
        UnavailableSampleError, AudienceTooLargeError, QuotaExceededError, body=True
    ),
)
def hide_audience(
    draft: HiddenDraft,
    caller: AuditorDep,
    store: StoreDep,
    settings: SettingsDep,
    platform: PlatformDep,
) -> Audience:
    """Create a hidden audience of a number of people, for one two-party audit."""
    return service.hide_audience(store, caller, draft, platform, settings)


@router.get("")
def list_audiences(
    caller: AuditorDep, session: ReadDep, cursor: CursorQuery = None, limit: LimitQuery = 50
) -> Page[Audience]:
    """List your audiences, newest first."""
    return queries.list_audiences(session, caller, cursor, limit)


@router.get("/{audience_id}", responses=responses(NotFoundError))
def get_audience(audience_id: str, caller: AuditorDep, session: ReadDep) -> Audience:
    """Return one audience: your upload, never the matches."""
    return queries.get_audience(session, caller, audience_id)


@router.delete("/{audience_id}", status_code=204, responses=responses(NotFoundError, ConflictError))
def delete_audience(audience_id: str, caller: AuditorDep, store: StoreDep) -> None:
    """Erase the members of an open or finished audience. Commitment and debits stay."""
    service.delete_audience(store, caller, audience_id)


@router.put(
    "/{audience_id}/groups/{label}/members",
    openapi_extra=_BODY,
    responses=responses(
        NotFoundError,
        AudienceSealedError,
        MalformedMembersError,
        DigestMismatchError,
        AudienceTooLargeError,
        TooLargeError,
        UnsupportedMediaTypeError,
        ConflictError,
        MatchingQuotaError,
        QuotaExceededError,
        UnavailableError,
    ),
)
async def put_members(
    audience_id: str,
    label: LabelPath,
    request: Request,
    caller: AuditorDep,
    parts: UploadDep,
    part: PartQuery = 0,
    content_type: Annotated[str, Header(include_in_schema=False)] = "",
    content_digest: Annotated[
        str | None, Header(description="RFC 9530, `sha-256=:…:`", max_length=200)
    ] = None,
) -> Part:
    """Upload one part of a group: one column named after the kind of identifier.

    A part replaces the part of the same number, so an interrupted upload can be resumed. It is
    accepted at once and matched afterwards; the database keeps no identifier.
    """
    upload = PartUpload(parts, caller, audience_id, label, part, content_type, content_digest)
    return await upload.receive(request.stream())


@router.delete(
    "/{audience_id}/groups/{label}",
    status_code=204,
    responses=responses(NotFoundError, AudienceSealedError),
)
def empty_group(
    audience_id: str, label: LabelPath, caller: AuditorDep, store: StoreDep, settings: SettingsDep
) -> Response:
    """Delete all uploaded parts of a group, so that it can be uploaded again."""
    service.empty_group(store, caller, audience_id, label, settings)
    return Response(status_code=204)


@router.post(
    "/{audience_id}/seal",
    responses=responses(
        NotFoundError,
        AudienceSealedError,
        ConflictError,
        PartsLostError,
        EmptyGroupError,
        UnavailableError,
        body=True,
    ),
)
async def seal_audience(
    audience_id: str, seal: Seal, caller: AuditorDep, parts: UploadDep
) -> Audience:
    """Seal the audience. The response commits you and the platform to the upload.

    It arrives when all parts are matched, at a public pace.
    """
    return await service.seal_audience(parts, caller, audience_id, seal)
