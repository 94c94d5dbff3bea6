"""Upload of one part of a group: received, checked, accepted at once, and matched afterwards.

A part waits for a slot to be matched, so that the parts in memory are bounded
(`api.audiences.matching_slots`).
"""

import asyncio
import base64
import binascii
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from tempfile import SpooledTemporaryFile
from typing import IO

from fastapi.concurrency import run_in_threadpool

from api.audiences import uploads
from api.audiences.dependencies import UploadParts
from api.audiences.matching import bind, require_answering
from api.audiences.matching_slots import Ticket
from api.audiences.media_types import media_type_of
from api.audiences.parsing import read_members
from api.audiences.row_limit import RowLimit, row_limit
from api.identity.caller import Caller
from api.kernel.errors import DigestMismatchError, OverloadedError
from openapi.resources import Part

# Longest wait of a part for a slot, whether or not its identifiers match; then it is refused.
SLOT_PATIENCE = timedelta(seconds=20)
_IN_MEMORY = 4 * 1024 * 1024
# Seconds between two checks for a free slot.
_PAUSE = 0.005


@dataclass(frozen=True)
class PartUpload:
    """One part of a group, as its URL and its headers announce it."""

    parts: UploadParts
    caller: Caller
    audience_id: str
    label: str
    number: int
    content_type: str
    content_digest: str | None

    async def receive(self, chunks: AsyncIterator[bytes]) -> Part:
        """Receive and accept the part.

        It replaces the part that had its number when it began to arrive.

        Its matching begins before this returns, and continues afterwards.
        """
        position = await run_in_threadpool(self._locate)
        limit = row_limit(position.others, self.parts.settings)
        media_type = media_type_of(self.content_type)
        with SpooledTemporaryFile(_IN_MEMORY) as body:
            state = hashlib.sha256()
            async for chunk in chunks:
                limit.take(chunk, media_type)
                state.update(chunk)
                body.write(chunk)
            _check_digest(self.content_digest, state.digest())
            size, digest = body.tell(), f"sha256:{state.hexdigest()}"
            body.seek(0)
            arrived = _Arrived(body, digest, limit, instead_of=position.digest)
            async with _hold_matching_slot(self.parts, self.caller.auditor, size) as ticket:
                return await run_in_threadpool(self._accept_and_match, arrived, ticket)

    def _locate(self) -> uploads.PartPosition:
        with self.parts.store.read() as session:
            return uploads.locate_part(
                session, self.caller, self.audience_id, self.label, self.number
            )

    def _accept_and_match(self, arrived: "_Arrived", ticket: Ticket) -> Part:
        matcher = self.parts.matcher
        try:
            accepted, claimed = self._accept(arrived)
        except BaseException:
            matcher.slots.leave(ticket)
            raise
        matcher.begin(claimed, ticket)
        return accepted

    def _accept(self, arrived: "_Arrived") -> tuple[Part, uploads.ClaimedPart]:
        store, settings, matcher = self.parts.store, self.parts.settings, self.parts.matcher
        members = read_members(arrived.body, self.content_type, arrived.limit)
        require_answering(self.parts.people, members)
        binding, seconds = bind(members, settings), matcher.duration(members)
        with store.write() as session:
            audience = uploads.get_owned_open(session, self.caller, self.audience_id)
            return uploads.accept_part(
                session,
                audience,
                self.label,
                self.number,
                members,
                binding,
                arrived.digest,
                settings,
                seconds,
                instead_of=arrived.instead_of,
            )


@dataclass(frozen=True)
class _Arrived:
    """Body of a part; `instead_of` is the digest of the part that had its number before."""

    body: IO[bytes]
    digest: str
    limit: RowLimit
    instead_of: str | None


@asynccontextmanager
async def _hold_matching_slot(
    parts: UploadParts, auditor_id: str, size: int
) -> AsyncIterator[Ticket]:
    """Wait for a slot to be matched, and for a slot to be read.

    The caller holds the slot to be matched from then on, also after this context has ended.
    """
    slots = parts.matcher.slots
    ticket, taken = slots.wait_for(auditor_id, size), False
    try:
        async with asyncio.timeout(SLOT_PATIENCE.total_seconds()):
            while not slots.take(ticket):
                await asyncio.sleep(_PAUSE)
            await parts.slots.acquire()
        taken = True
    except TimeoutError as error:
        raise OverloadedError(
            f"{slots.parts} parts are being matched, and none of their slots became free within"
            f" {SLOT_PATIENCE.total_seconds():g} s. Nothing was stored. Send the part again.",
            headers={"Retry-After": "5"},
        ) from error
    finally:
        if not taken:
            slots.leave(ticket)
    try:
        yield ticket
    finally:
        parts.slots.release()


def _check_digest(header: str | None, received: bytes) -> None:
    """Check the RFC 9530 digest, if the header is present."""
    if header is None:
        return
    name, _, value = header.partition("=")
    try:
        announced = base64.b64decode(value.strip().strip(":"), validate=True)
    except binascii.Error:
        announced = b""
    if name.strip().lower() != "sha-256" or announced != received:
        raise DigestMismatchError(
            "The received bytes do not have the announced Content-Digest (sha-256=:base64:). "
            "Nothing was stored. Send the part again."
        )
