"""`/v1/audiences`: upload people by group, seal them, or have the platform draw a sample."""

import base64
import binascii
import hashlib
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated

from fastapi import APIRouter, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from sqlmodel import select

from api.audiences import hidden, samples, sealing, uploads
from api.audiences.erasure import erase
from api.audiences.matching import matched
from api.audiences.members import MEDIA_TYPES, read_members
from api.auth.access import AuditorDep
from api.errors import (
    AudienceSealedError,
    AudienceTooLargeError,
    ConflictError,
    DigestMismatchError,
    EmptyGroupError,
    ForbiddenError,
    MalformedMembersError,
    NotFoundError,
    RateLimitedError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnavailableSampleError,
    UnsupportedMediaTypeError,
)
from api.ledger import lock
from api.paging import page
from api.problems import responses
from api.routes.parameters import CursorQuery, LabelPath, LimitQuery, PartQuery
from api.service import ReadDep, ServiceDep
from api.store import AudienceRow
from openapi.models import Audience, AudienceDraft, HiddenDraft, Page, Part, SampleDraft, Seal

router = APIRouter(
    prefix="/v1/audiences",
    tags=["audiences"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)
_IN_MEMORY = 4 * 1024 * 1024
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


@router.post("", status_code=201, responses=responses(body=True))
def create_audience(draft: AudienceDraft, caller: AuditorDep, service: ServiceDep) -> Audience:
    """Open an audience with empty groups."""
    with service.store.write() as session:
        return uploads.create(session, caller, draft, service.settings)


@router.post(
    "/samples",
    status_code=201,
    responses=responses(UnavailableSampleError, UnavailableError, body=True),
)
def sample_audience(draft: SampleDraft, caller: AuditorDep, service: ServiceDep) -> Audience:
    """Have the platform draw people who declared an attribute to it. You get a handle only."""
    return samples.draw(service.store, caller, draft, service.platform.people, service.settings)


@router.post(
    "/hidden",
    status_code=201,
    responses=responses(UnavailableSampleError, AudienceTooLargeError, body=True),
)
def hide_audience(draft: HiddenDraft, caller: AuditorDep, service: ServiceDep) -> Audience:
    """So many people whom the platform is not shown, for one two-party audit."""
    with service.store.write() as session:
        return hidden.hide(session, caller, draft, service.platform, service.settings)


@router.get("")
def list_audiences(
    caller: AuditorDep, session: ReadDep, cursor: CursorQuery = None, limit: LimitQuery = 50
) -> Page[Audience]:
    """Your audiences, newest first."""
    mine = select(AudienceRow).where(AudienceRow.auditor_id == caller.auditor)
    return page(
        session, mine, AudienceRow.id, lambda row: uploads.view(session, row), cursor, limit
    )


@router.get("/{audience_id}", responses=responses(NotFoundError))
def get_audience(audience_id: str, caller: AuditorDep, session: ReadDep) -> Audience:
    """One audience: what you uploaded, never what matched."""
    return uploads.view(session, uploads.owned(session, caller, audience_id))


@router.delete("/{audience_id}", status_code=204, responses=responses(NotFoundError, ConflictError))
def delete_audience(audience_id: str, caller: AuditorDep, service: ServiceDep) -> None:
    """Erase the members of an open or finished audience. Commitment and debits stay."""
    with service.store.write() as session:
        lock(session)
        erase(session, uploads.owned(session, caller, audience_id, lock="skip"))


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
        UnavailableError,
    ),
)
async def put_members(
    audience_id: str,
    label: LabelPath,
    request: Request,
    caller: AuditorDep,
    service: ServiceDep,
    part: PartQuery = 0,
    content_type: Annotated[str, Header(include_in_schema=False)] = "",
    content_digest: Annotated[
        str | None, Header(description="RFC 9530, `sha-256=:…:`", max_length=200)
    ] = None,
) -> Part:
    """Upload one part of a group: one column named after the kind of identifier.

    A part replaces the part of the same number, so an upload that broke off can be resumed.
    Identifiers are matched at once, and the database keeps none of them.
    """
    people, settings = service.platform.people, service.settings

    def look() -> uploads.Place:
        with service.store.read() as session:
            return uploads.place_of(session, caller, audience_id, label, part)

    def keep(body: IO[bytes], digest: str) -> Part:
        members = read_members(body, content_type)
        uploads.refuse_too_many(place.others + len(members.identifiers), settings)
        found = matched(people, members, settings)  # while others write
        with service.store.write() as session:
            audience = uploads.owned_open(session, caller, audience_id)
            return uploads.put_part(
                session, audience, label, part, found, digest, settings, instead_of=place.digest
            )

    place = await run_in_threadpool(look)
    with SpooledTemporaryFile(_IN_MEMORY) as body:
        state = hashlib.sha256()
        async for chunk in request.stream():
            state.update(chunk)
            body.write(chunk)
        _compare(content_digest, state.digest())
        body.seek(0)
        async with service.uploads:
            return await run_in_threadpool(keep, body, f"sha256:{state.hexdigest()}")


@router.delete(
    "/{audience_id}/groups/{label}",
    status_code=204,
    responses=responses(NotFoundError, AudienceSealedError),
)
def empty_group(
    audience_id: str, label: LabelPath, caller: AuditorDep, service: ServiceDep
) -> Response:
    """Take back everything uploaded for a group, to upload it again."""
    with service.store.write() as session:
        audience = uploads.owned_open(session, caller, audience_id)
        uploads.empty_group(session, audience, label, service.settings)
    return Response(status_code=204)


@router.post(
    "/{audience_id}/seal",
    responses=responses(
        NotFoundError,
        AudienceSealedError,
        ConflictError,
        EmptyGroupError,
        UnavailableError,
        body=True,
    ),
)
async def seal_audience(
    audience_id: str, seal: Seal, caller: AuditorDep, service: ServiceDep
) -> Audience:
    """Close the audience for good. The answer commits you and the platform to what was uploaded."""
    people, settings = service.platform.people, service.settings
    async with service.uploads:
        return await run_in_threadpool(
            sealing.seal, service.store, caller, audience_id, seal.salt, people, settings
        )


def _compare(header: str | None, received: bytes) -> None:
    """Check an RFC 9530 digest, where one was sent."""
    if header is None:
        return
    name, _, value = header.partition("=")
    try:
        announced = base64.b64decode(value.strip().strip(":"), validate=True)
    except binascii.Error:
        announced = b""
    if name.strip().lower() != "sha-256" or announced != received:
        raise DigestMismatchError(
            "the bytes received do not have the Content-Digest announced (sha-256=:base64:); "
            "send the part again"
        )
