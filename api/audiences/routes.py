"""`/v1/audiences`: upload people by group, seal them, or have the platform draw a sample."""

import asyncio
import base64
import binascii
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from tempfile import SpooledTemporaryFile
from typing import IO, Annotated

from fastapi import Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from sqlmodel import select

from api.audiences import hidden, sampling, sealing, uploads
from api.audiences.dependencies import UploadDep, UploadParts
from api.audiences.erasure import erase
from api.audiences.matching import bind, refuse_when_silent
from api.audiences.media_types import MEDIA_TYPES, media_type_of
from api.audiences.parsing import read_members
from api.audiences.places import Ticket
from api.audiences.row_limit import row_limit
from api.db import AudienceRow
from api.identity.roles import AuditorDep
from api.kernel.clock import now
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
    OverloadedError,
    PartsLostError,
    QuotaExceededError,
    RateLimitedError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnavailableSampleError,
    UnsupportedMediaTypeError,
)
from api.ledger import lock
from api.web.dependencies import PlatformDep, ReadDep, SettingsDep, StoreDep
from api.web.pagination import page
from api.web.parameters import CursorQuery, LabelPath, LimitQuery, PartQuery
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from api.web.waiting import place
from openapi.resources import Audience, AudienceDraft, HiddenDraft, Page, Part, SampleDraft, Seal

router = new_router(
    prefix="/v1/audiences",
    tags=["audiences"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)
_IN_MEMORY = 4 * 1024 * 1024
# Seconds between two looks for a place, or for parts that are being written down.
_PAUSE, _LONGEST_PAUSE = 0.005, 0.05
# A sealing waits this long for parts that are being matched, and is refused then.
_PATIENCE = timedelta(seconds=25)
# A part waits this long for a place, whoever its identifiers find, and is refused then.
PLACE_PATIENCE = timedelta(seconds=20)
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
    with store.write() as session:
        return uploads.create(session, caller, draft, settings)


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
    """Have the platform draw people who declared an attribute to it. You get a handle only."""
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
    """So many people whom the platform is not shown, for one two-party audit."""
    with store.write() as session:
        return hidden.hide(session, caller, draft, platform, settings)


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
def delete_audience(audience_id: str, caller: AuditorDep, store: StoreDep) -> None:
    """Erase the members of an open or finished audience. Commitment and debits stay."""
    with store.write() as session:
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

    A part replaces the part of the same number, so an upload that broke off can be resumed.
    It is accepted at once and matched afterwards; the database keeps no identifier.
    """
    store, settings, matcher = parts.store, parts.settings, parts.matcher

    def look() -> uploads.Place:
        with store.read() as session:
            return uploads.place_of(session, caller, audience_id, label, part)

    def accept(body: IO[bytes], digest: str) -> tuple[Part, uploads.Claimed]:
        members = read_members(body, content_type, limit)
        refuse_when_silent(parts.people, members)
        binding, seconds = bind(members, settings), matcher.duration(members)
        with store.write() as session:
            audience = uploads.owned_open(session, caller, audience_id)
            where = session, audience, label, part
            return uploads.accept_part(
                *where, members, binding, digest, settings, seconds, instead_of=place.digest
            )

    def keep(body: IO[bytes], digest: str, ticket: Ticket) -> Part:
        try:
            accepted, claimed = accept(body, digest)
        except BaseException:
            matcher.places.leave(ticket)
            raise
        matcher.begin(claimed, ticket)
        return accepted

    place = await run_in_threadpool(look)
    limit, media_type = row_limit(place.others, settings), media_type_of(content_type)
    with SpooledTemporaryFile(_IN_MEMORY) as body:
        state = hashlib.sha256()
        async for chunk in request.stream():
            limit.take(chunk, media_type)
            state.update(chunk)
            body.write(chunk)
        _compare(content_digest, state.digest())
        size, digest = body.tell(), f"sha256:{state.hexdigest()}"
        body.seek(0)
        async with _placed(parts, caller.auditor, size) as ticket:
            return await run_in_threadpool(keep, body, digest, ticket)


@router.delete(
    "/{audience_id}/groups/{label}",
    status_code=204,
    responses=responses(NotFoundError, AudienceSealedError),
)
def empty_group(
    audience_id: str, label: LabelPath, caller: AuditorDep, store: StoreDep, settings: SettingsDep
) -> Response:
    """Take back everything uploaded for a group, to upload it again."""
    with store.write() as session:
        audience = uploads.owned_open(session, caller, audience_id)
        uploads.empty_group(session, audience, label, settings)
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
    """Close the audience. The answer commits you and the platform to what was uploaded.

    It comes when all parts are matched, at a public pace.
    """
    asked = parts.store, caller, audience_id, seal.salt, parts.people, parts.settings
    give_up, pause = now() + _PATIENCE, _PAUSE
    while True:
        try:
            async with place(parts.slots):
                return await run_in_threadpool(sealing.seal, *asked)
        except sealing.NotMatchedError as error:
            # Parts are delivered at public times: to look more often tells nothing.
            if error.until > give_up or now() > give_up:
                raise
            await asyncio.sleep(max(pause, (error.until - now()).total_seconds()))
            pause = min(2 * pause, _LONGEST_PAUSE)


@asynccontextmanager
async def _placed(parts: UploadParts, auditor_id: str, size: int) -> AsyncIterator[Ticket]:
    """Wait for a place among the parts that are matched, and for the turn to be read.

    The caller has the place from then on, also after this context has ended.
    """
    places = parts.matcher.places
    ticket, taken = places.wait_for(auditor_id, size), False
    try:
        async with asyncio.timeout(PLACE_PATIENCE.total_seconds()):
            while not places.take(ticket):
                await asyncio.sleep(_PAUSE)
            await parts.slots.acquire()
        taken = True
    except TimeoutError as error:
        raise OverloadedError(
            f"{places.parts} parts are being matched, and none of their places became free within"
            f" {PLACE_PATIENCE.total_seconds():g} s. Nothing was stored. Send the part again.",
            headers={"Retry-After": "5"},
        ) from error
    finally:
        if not taken:
            places.leave(ticket)
    try:
        yield ticket
    finally:
        parts.slots.release()


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
