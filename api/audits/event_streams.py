"""Event streams of one process: limited in number, and ended when the caller may no longer follow.

A stream ends when the caller's token or session expires. Every `CHECK_SECONDS` one batch of queries
checks all streams of the process. It ends a stream in three cases: its token was revoked, its
session is over, or its researcher was removed or has another role. A comment every
`KEEP_ALIVE_SECONDS` tells proxies and clients that the stream is alive.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from api.audits.events import AuditEvents
from api.audits.states import FINAL
from api.db import Store
from api.identity.caller import Caller
from api.identity.credentials import check_still_valid
from api.kernel.clock import now
from api.kernel.errors import OverloadedError, QuotaExceededError
from api.kernel.settings import Settings
from openapi.resources import AuditState, Progress

CHECK_SECONDS = 15.0
KEEP_ALIVE_SECONDS = 15.0
KEEP_ALIVE = ": keep-alive\n\n"
# Seconds after which a client whose stream was refused may try again.
_RETRY_AFTER = "5"

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Stream:
    """One open stream; `ended` is set when its caller may no longer follow."""

    caller: Caller
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def seconds_left(self) -> float:
        """Return the seconds until the credential expires."""
        credential = self.caller.credential
        if credential is None:
            return float("inf")
        return (credential.expires_at - now()).total_seconds()


class EventStreams:
    """All event streams of one process. Only the event loop of the process uses it."""

    def __init__(self, store: Store, events: AuditEvents, settings: Settings) -> None:
        self._store = store
        self._audit_events = events
        self._settings = settings
        self._open: set[Stream] = set()
        self._per_researcher: Counter[str] = Counter()
        self._checking: asyncio.Task[None] | None = None

    def respond(self, caller: Caller, audit_id: str, state: str) -> "EventStreamResponse":
        """Return the stream of an audit's states, beginning with `state`.

        Refuse it above the limits.
        """
        stream = self._begin(caller)
        return EventStreamResponse(self, stream, self._events(stream, audit_id, state))

    def end(self, stream: Stream) -> None:
        """Forget a stream."""
        if stream in self._open:
            self._open.remove(stream)
            self._per_researcher -= Counter({stream.caller.researcher_id: 1})

    def _begin(self, caller: Caller) -> Stream:
        settings, headers = self._settings, {"Retry-After": _RETRY_AFTER}
        if self._per_researcher[caller.researcher_id] >= settings.streams_per_researcher:
            limit = settings.streams_per_researcher
            raise QuotaExceededError(
                f"You already follow {limit} audits, which is the limit."
                " Close a stream, or request the state of the audit instead.",
                headers=headers,
                quota="event streams",
                limit=limit,
            )
        if len(self._open) >= settings.streams_per_process:
            raise OverloadedError(
                f"{len(self._open)} streams are open. Request the state of the audit, or try again"
                f" in {_RETRY_AFTER} s.",
                headers=headers,
            )
        stream = Stream(caller)
        self._open.add(stream)
        self._per_researcher[caller.researcher_id] += 1
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._check())
        return stream

    async def _events(self, stream: Stream, audit_id: str, state: str) -> AsyncIterator[str]:
        yield _event(audit_id, state)
        while state not in FINAL:
            following = asyncio.ensure_future(self._audit_events.next_state(audit_id, state))
            try:
                while not await _moved(following, stream):
                    if stream.ended.is_set() or stream.seconds_left() <= 0:
                        return
                    yield KEEP_ALIVE
                state = following.result()
            finally:
                following.cancel()
            yield _event(audit_id, state)

    async def _check(self) -> None:
        """End streams whose callers may no longer follow. Runs while any stream is open."""
        while self._open:
            await asyncio.sleep(CHECK_SECONDS)
            streams = list(self._open)
            callers = [stream.caller for stream in streams]
            try:
                valid = await run_in_threadpool(check_still_valid, self._store, callers)
            except Exception:  # the next check may succeed
                log.exception("streams.check_failed")
                continue
            for stream, is_valid in zip(streams, valid, strict=True):
                if not is_valid:
                    stream.ended.set()


class EventStreamResponse(StreamingResponse):
    """A response that removes its stream when it ends, even if it was never sent."""

    def __init__(self, streams: EventStreams, stream: Stream, events: AsyncIterator[str]) -> None:
        headers = {"Cache-Control": "no-store"}
        super().__init__(events, media_type="text/event-stream", headers=headers)
        self._streams, self._stream = streams, stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.end(self._stream)


async def _moved(following: "asyncio.Future[str]", stream: Stream) -> bool:
    """Wait for the next state, the end of the stream, or the next keep-alive.

    Return whether it moved.
    """
    seconds = max(0.0, min(KEEP_ALIVE_SECONDS, stream.seconds_left()))
    ended = asyncio.ensure_future(stream.ended.wait())
    waited: set[Any] = {following, ended}
    try:
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ended.cancel()
        with suppress(asyncio.CancelledError):
            await ended
    return following.done()


def _event(audit_id: str, state: str) -> str:
    progress = Progress(audit_id=audit_id, state=cast("AuditState", state))
    return f"event: progress\ndata: {progress.model_dump_json()}\n\n"
