"""Limits on request bodies: a maximum size, and a minimum rate of arrival.

A body has `body_seconds` at the beginning. From then on it must have arrived at an average rate of
`body_bytes_per_second`. After `whole_body_seconds` all of it must have arrived. A body that is too
large is refused by its announced length, or while it arrives.
"""

import asyncio
from dataclasses import dataclass

from starlette.types import Message, Receive, Scope

from api.kernel.errors import RequestTimeoutError, TooLargeError
from api.kernel.settings import Settings
from api.web.request_head import header

# Bytes and seconds of a refused body that are read and dropped. So its sender, who may still be
# sending, can read the answer.
_DRAINED_BYTES, _DRAIN_SECONDS = 2**18, 1.0


def has_body(scope: Scope) -> bool:
    """Return whether a request announces a body."""
    return header(scope, b"transfer-encoding") is not None or announced_length(scope) > 0


def announced_length(scope: Scope) -> int:
    """Return the announced length of a body; 0 if none is announced."""
    value = header(scope, b"content-length") or b"0"
    return int(value) if value.isdigit() else 0


@dataclass
class LimitedBody:
    """Body of one request, as it arrives."""

    receive: Receive
    limit: int
    settings: Settings
    _received: int = 0
    _started: float | None = None

    async def next(self) -> Message:
        """Return the next message, or raise if the body is too large or too slow."""
        message = await self._in_time()
        self._received += len(message.get("body", b""))
        if self._received > self.limit:
            raise too_large(self.limit)
        return message

    async def read(self) -> bytes:
        """Read the whole body."""
        chunks: list[bytes] = []
        while True:
            message = await self.next()
            if message["type"] == "http.disconnect":
                raise ConnectionAbortedError
            chunks.append(message.get("body", b""))
            if not message.get("more_body", False):
                return b"".join(chunks)

    async def _in_time(self) -> Message:
        loop = asyncio.get_running_loop()
        if self._started is None:
            self._started = loop.time()
        settings = self.settings
        earned = settings.body_seconds + self._received / settings.body_bytes_per_second
        allowed = min(earned, settings.whole_body_seconds)
        try:
            async with asyncio.timeout_at(self._started + allowed):
                return await self.receive()
        except TimeoutError:
            raise RequestTimeoutError(
                f"The body arrived too slowly: {self._received} bytes in {allowed:.0f} s."
                f" Send at least {settings.body_bytes_per_second} bytes per second, and all of it"
                f" within {settings.whole_body_seconds:g} s."
                " Nothing was stored.",
                headers={"Connection": "close"},
            ) from None


async def drain(receive: Receive) -> bool:
    """Read and drop the rest of a refused body; return whether that was all of it."""
    dropped = 0
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            while dropped < _DRAINED_BYTES:
                message = await receive()
                dropped += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return True
    except TimeoutError:
        pass
    return False


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields a body that was already read, and then the rest of the
    request.
    """
    given = False

    async def next_message() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message


def too_large(limit: int) -> TooLargeError:
    return TooLargeError(
        f"The request body is larger than the limit of {limit} bytes. Nothing was stored.",
        limit=limit,
    )
