"""The gate that every request passes before the application: admission, token, body, in this order.

FastAPI reads a body before it asks who sent it. Here the token is verified first, where one is in
the headers, and a body without one is small. While a body arrives its request holds neither a slot
nor a thread.
"""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from fastapi.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.app.admission import Admission, Slots
from api.app.capacity import Capacity
from api.app.claims import KnownCallers
from api.auth.access import authenticate_early
from api.errors import ApiError, UnauthenticatedError
from api.problems import database_unavailable, respond
from api.settings import Settings
from api.store import UNAVAILABLE
from api.web.body_limit import (
    LimitedBody,
    announced_length,
    drain,
    has_body,
    replayed,
    too_large,
)
from api.web.headers import header
from api.web.waiting import place

# Paths whose bodies need no token: they carry their own proof, or their sender is not known yet.
_WITHOUT_TOKEN = ("/oauth/", "/v1/applications", "/console/")
# Classes whose bodies are streamed to where they are read.
_STREAMED = ("uploads", "exchanges")
_READS = ("GET", "HEAD", "OPTIONS")


class Gate:
    """Middleware that refuses a request before any work is done for it, or lets it through."""

    def __init__(self, app: ASGIApp, settings: Settings, authenticate: Callable[..., Any]) -> None:
        capacity = Capacity.of(settings)
        self.app = app
        self.settings = settings
        self._authenticate = authenticate
        self._admission = Admission(capacity.shares)
        self._callers = KnownCallers()
        self._writes = {name: asyncio.Semaphore(number) for name, number in capacity.writes.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        slots = self._admission.slots_for(scope) if scope["type"] == "http" else None
        if slots is None:
            return await self.app(scope, receive, send)
        scope.setdefault("state", {})
        try:
            receive = await self._body(scope, receive, slots)
            return await self._serve(scope, receive, send, slots)
        except ConnectionAbortedError:  # the client left before its body was complete
            return None
        except (ApiError, *UNAVAILABLE) as error:
            refusal = error if isinstance(error, ApiError) else database_unavailable(error)
            return await self._refuse(refusal, scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, slots: Slots) -> None:
        """Call the application. A stream gives its slot back when it begins."""
        with slots.hold(self._callers.key(scope)) as slot:

            async def sending(message: Message) -> None:
                if message["type"] == "http.response.start" and _is_stream(message):
                    slot.give_back()
                await send(message)

            waits = scope["method"] not in _READS and slots.name not in _STREAMED
            writes = self._writes.get(slots.name, self._writes["requests"])
            async with place(writes) if waits else nullcontext():
                await self.app(scope, receive, sending)
        self._callers.learn(scope)

    async def _body(self, scope: Scope, receive: Receive, slots: Slots) -> Receive:
        """Return a `receive` of the body, once its size and its token are known to be allowed."""
        if not has_body(scope):
            return receive
        limit = self._limit(scope, slots)
        if announced_length(scope) > limit:
            raise too_large(limit)
        await self._verify_token(scope, slots)
        body = LimitedBody(receive, limit, self.settings)
        if slots.name in _STREAMED:
            return body.next
        return replayed(await body.read(), receive)

    async def _verify_token(self, scope: Scope, slots: Slots) -> None:
        if scope["path"].startswith(_WITHOUT_TOKEN):
            return
        authorization = header(scope, b"authorization")
        if authorization is None:
            raise UnauthenticatedError(
                "Send an access token: Authorization: Bearer <token>.", sent=False
            )
        with slots.hold(self._callers.key(scope)):
            await run_in_threadpool(
                authenticate_early, self._authenticate, scope["state"], authorization
            )
        self._callers.learn(scope)

    def _limit(self, scope: Scope, slots: Slots) -> int:
        if slots.name in _STREAMED:
            return self.settings.max_part_bytes
        known = any(header(scope, name) is not None for name in (b"authorization", b"cookie"))
        most = self.settings.max_body_bytes
        return most if known else min(most, self.settings.anonymous_body_bytes)

    async def _refuse(self, error: ApiError, scope: Scope, receive: Receive, send: Send) -> None:
        if has_body(scope) and (error.headers.get("Connection") or not await drain(receive)):
            error.headers["Connection"] = "close"
        await respond(error, scope["path"])(scope, receive, send)


def _is_stream(message: Message) -> bool:
    return any(
        key == b"content-type" and value.startswith(b"text/event-stream")
        for key, value in message["headers"]
    )
