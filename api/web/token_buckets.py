"""Token buckets in memory: one per caller, refilled at a rate; a request takes one token.

At most `MAX_BUCKETS` callers are known at a time. Full buckets are dropped first, which changes
nothing for their callers. If none is full, unknown callers share one bucket. So no bucket that
limits somebody is ever dropped, and nobody can evade a limit that way.
"""

import math
import threading
import time
from dataclasses import dataclass
from typing import Protocol

from api.kernel.errors import RateLimitedError

MAX_BUCKETS = 10_000
# Bucket of callers without a bucket of their own.
_OVERFLOW = ""
_SWEEP_SECONDS = 1.0


class TokenBuckets(Protocol):
    """Rate limits of callers."""

    def take(self, who: str) -> None:
        """Take a token of this caller, or raise `RateLimitedError`."""
        ...


@dataclass(frozen=True)
class Rate:
    """Tokens per minute, and the size of a full bucket."""

    per_minute: float
    burst: int

    @property
    def per_second(self) -> float:
        return self.per_minute / 60

    @property
    def seconds_to_fill(self) -> float:
        return self.burst / self.per_second

    def after(self, tokens: float, seconds: float) -> float:
        """Return the tokens of a bucket after some seconds without a request."""
        return min(self.burst, tokens + seconds * self.per_second)

    def refusal(self, tokens: float, margin: float = 0.0) -> RateLimitedError:
        """Return the refusal of a bucket with less than one token, with the time until it has
        one.
        """
        wait = math.ceil((1 - tokens) / self.per_second + margin)
        return RateLimitedError(
            f"More than {self.per_minute:g} requests per minute. Try again in {wait} s.",
            headers={"Retry-After": str(wait)},
        )


@dataclass
class _Bucket:
    tokens: float
    at: float


class LocalBuckets:
    """Token buckets of one process."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()
        self._swept_at = -math.inf

    def take(self, who: str) -> None:
        """Take a token of this caller, or raise `RateLimitedError`."""
        with self._lock:
            at = time.monotonic()
            bucket = self._bucket(who, at)
            bucket.tokens = self._rate.after(bucket.tokens, at - bucket.at)
            bucket.at = at
            if bucket.tokens < 1:
                # A refusal takes no token, so that Retry-After is right.
                raise self._rate.refusal(bucket.tokens)
            bucket.tokens -= 1

    def _bucket(self, who: str, at: float) -> _Bucket:
        if who not in self._buckets and len(self._buckets) >= MAX_BUCKETS:
            self._sweep(at)
            if len(self._buckets) >= MAX_BUCKETS:
                who = _OVERFLOW
        return self._buckets.setdefault(who, _Bucket(self._rate.burst, at))

    def _sweep(self, at: float) -> None:
        """Drop buckets that are full again, at most once a second, because it reads all of them."""
        if at - self._swept_at < _SWEEP_SECONDS:
            return
        self._swept_at, full = at, self._rate.seconds_to_fill
        for who in [who for who, bucket in self._buckets.items() if at - bucket.at >= full]:
            del self._buckets[who]
