"""Commands on audiences, each in a transaction of its own."""

import asyncio
from datetime import timedelta

from fastapi.concurrency import run_in_threadpool

from api.audiences import hidden, sealing, uploads
from api.audiences.dependencies import UploadParts
from api.audiences.erasure import erase
from api.db import Store
from api.identity.caller import Caller
from api.kernel.clock import now
from api.kernel.settings import Settings
from api.ledger import lock
from api.platforms.interfaces import Platform
from api.web.waiting import hold_slot
from openapi.resources import Audience, AudienceDraft, HiddenDraft, Seal

# Longest wait of a sealing for parts that are being matched; then it is refused.
SEAL_PATIENCE = timedelta(seconds=25)
# Seconds between two checks for parts that are being recorded: the first, and the maximum.
_PAUSE, _LONGEST_PAUSE = 0.005, 0.05


def create_audience(
    store: Store, caller: Caller, draft: AudienceDraft, settings: Settings
) -> Audience:
    """Open an audience with empty groups."""
    with store.write() as session:
        return uploads.create(session, caller, draft, settings)


def hide_audience(
    store: Store, caller: Caller, draft: HiddenDraft, platform: Platform, settings: Settings
) -> Audience:
    """Declare an audience that is not revealed to the platform, for one two-party audit."""
    with store.write() as session:
        return hidden.hide(session, caller, draft, platform, settings)


def delete_audience(store: Store, caller: Caller, audience_id: str) -> None:
    """Erase the members of an open or finished audience."""
    with store.write() as session:
        lock(session)
        erase(session, uploads.get_owned(session, caller, audience_id, lock="skip"))


def empty_group(
    store: Store, caller: Caller, audience_id: str, label: str, settings: Settings
) -> None:
    """Delete all uploaded parts of a group."""
    with store.write() as session:
        audience = uploads.get_owned_open(session, caller, audience_id)
        uploads.empty_group(session, audience, label, settings)


async def seal_audience(
    parts: UploadParts, caller: Caller, audience_id: str, seal: Seal
) -> Audience:
    """Seal an audience as soon as all its parts are matched, at a public pace."""
    asked = parts.store, caller, audience_id, seal.salt, parts.people, parts.settings
    give_up, pause = now() + SEAL_PATIENCE, _PAUSE
    while True:
        try:
            async with hold_slot(parts.slots):
                return await run_in_threadpool(sealing.seal, *asked)
        except sealing.NotMatchedError as error:
            # Parts are delivered at public times, so checking more often reveals nothing.
            if error.until > give_up or now() > give_up:
                raise
            await asyncio.sleep(max(pause, (error.until - now()).total_seconds()))
            pause = min(2 * pause, _LONGEST_PAUSE)
