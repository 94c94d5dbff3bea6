"""Limits on how much and how fast: request rate per researcher, size of bodies.

The rate is kept in this process: with n processes behind a balancer a researcher may get up to n
times as many requests, which a balancer's own limit can tighten.
"""

import math
import threading
import time
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.auth.caller import Authenticator, Caller
from api.errors import RateLimitedError, TooLargeError
from api.problems import respond
from api.settings import Settings

# Above so many buckets, those that are full again are forgotten.
MOST_BUCKETS = 10_000


@dataclass
class Buckets:
    """A bucket of tokens per caller, refilled at a rate; a request takes one."""

    per_minute: float
    burst: float
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, who: str) -> None:
        rate = self.per_minute / 60
        with self._lock:
            at = time.monotonic()
            tokens, since = self._buckets.get(who, (self.burst, at))
            tokens = min(self.burst, tokens + (at - since) * rate)
            if len(self._buckets) > MOST_BUCKETS:
                self._forget(at)
            # A refusal takes nothing, so that Retry-After is true.
            self._buckets[who] = (tokens - 1 if tokens >= 1 else tokens, at)
        if tokens < 1:
            wait = math.ceil((1 - tokens) / rate)
            raise RateLimitedError(
                f"more than {self.per_minute:g} requests a minute; try again in {wait} s",
                headers={"Retry-After": str(wait)},
            )

    def _forget(self, at: float) -> None:
        full = self.burst / (self.per_minute / 60)
        self._buckets = {
            who: bucket for who, bucket in self._buckets.items() if at - bucket[1] < full
        }


@dataclass
class RateLimited:
    """An authenticator that also counts."""

    inner: Authenticator
    settings: Settings
    _buckets: Buckets = field(init=False)

    def __post_init__(self) -> None:
        self._buckets = Buckets(self.settings.requests_per_minute, self.settings.burst)

    def authenticate(self, bearer: str) -> Caller:
        caller = self.inner.authenticate(bearer)
        try:
            self._buckets.take(caller.researcher_id)
        except RateLimitedError as error:
            error.researcher_id = caller.researcher_id
            raise
        return caller


class BodyLimit:
    """Refuses bodies over the limit: by their announced size, and while they stream in."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        limit = self._limit(scope["path"])
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > limit:
            return await respond(_too_large(limit))(scope, receive, send)
        received = 0

        async def counting() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise _too_large(limit)
            return message

        return await self.app(scope, counting, send)

    def _limit(self, path: str) -> int:
        uploads = path.startswith("/v1/audiences/") and path.endswith("/members")
        uploads |= path.startswith("/v1/audits/") and path.endswith("/exchange")
        return self.settings.max_part_bytes if uploads else self.settings.max_body_bytes


def _too_large(limit: int) -> TooLargeError:
    return TooLargeError(f"a body may have {limit} bytes here", limit=limit)
