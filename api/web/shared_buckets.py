"""Token buckets that all processes of a deployment share, in PostgreSQL.

No request waits for the database because of its rate. Each process holds at most `grant` tokens of
a caller and draws more in the background, in batches, when half of them are spent. A caller who is
new to the process is lent a grant at once. The next draw deducts the loan from the shared bucket,
so the bucket may be negative for a while.

Bound: in T seconds after a bucket was full, N processes together admit at most

    burst + rate * T + N * grant      with grant = max(1, burst // 4).

Everything admitted was deducted, except for at most one loan of each process. A process lends to
the same caller again only after `burst / rate` idle seconds, in which the shared bucket fills up,
or after a restart.

While the database does not answer, nothing is drawn: a process admits what it holds.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from api.web.token_buckets import MAX_BUCKETS, Rate

_GRANTS_PER_BURST = 4
# An empty bucket is drawn from again after it has refilled for this time.
_REFILL_SECONDS = 0.25
# Added to Retry-After: a draw has happened by then.
_DRAW_SECONDS = 0.5
_OVERFLOW = ""
_SWEEP_SECONDS = 1.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """A draw from one shared bucket: pay `debt`, then take up to `want` whole tokens."""

    name: str
    rate: Rate
    debt: int
    want: int


@dataclass(frozen=True)
class TokensGranted:
    """Answer to a draw: tokens granted, and the level of the bucket afterwards."""

    granted: int
    level: float


Draw = Callable[[Iterable[Request]], dict[str, TokensGranted]]


@dataclass
class _LocalBucket:
    """Tokens of one caller in this process, and the last known level of the shared bucket."""

    tokens: int
    debt: int
    used_at: float
    level: float
    level_at: float


class SharedBuckets:
    """Share of one process in the buckets of one scope."""

    def __init__(self, rate: Rate, name: Callable[[str], str], wake: Callable[[], None]) -> None:
        self._rate = rate
        self._name = name
        self._wake = wake
        self.grant = max(1, rate.burst // _GRANTS_PER_BURST)
        self._local: dict[str, _LocalBucket] = {}
        # Callers whose loan is not deducted yet, or who hold few tokens.
        self._pending: set[str] = set()
        self._lock = threading.Lock()
        self._swept_at = 0.0

    def take(self, who: str) -> None:
        """Take a token of this caller, or raise `RateLimitedError`."""
        with self._lock:
            at = time.monotonic()
            who, bucket = self._find(who, at)
            bucket.used_at, admitted = at, bucket.tokens >= 1
            bucket.tokens -= admitted
            if bucket.debt or bucket.tokens <= self.grant // 2:
                self._pending.add(who)
                self._wake()
            if not admitted:
                raise self._rate.refusal(min(1.0, self._level(bucket, at)), _DRAW_SECONDS)

    def requests(self) -> list[Request]:
        """Return the draws that are due."""
        with self._lock:
            at = time.monotonic()
            return [
                Request(self._name(who), self._rate, bucket.debt, self.grant - bucket.tokens)
                for who in self._pending
                if (bucket := self._local.get(who)) and self._is_due(bucket, at)
            ]

    def receive(self, drawn: dict[str, TokensGranted], asked: list[Request]) -> None:
        """Add the tokens that were drawn."""
        paid = {request.name: request.debt for request in asked}
        with self._lock:
            at = time.monotonic()
            for who in list(self._pending):
                name, bucket = self._name(who), self._local.get(who)
                if bucket is None:
                    self._pending.discard(who)
                elif name in paid and name in drawn:
                    bucket.tokens += drawn[name].granted
                    bucket.debt -= paid[name]
                    bucket.level, bucket.level_at = drawn[name].level, at
                    if not bucket.debt and bucket.tokens > self.grant // 2:
                        self._pending.discard(who)

    @property
    def is_waiting(self) -> bool:
        """Whether tokens of a caller will be drawn, now or later."""
        return bool(self._pending)

    def _find(self, who: str, at: float) -> tuple[str, _LocalBucket]:
        if who not in self._local and len(self._local) >= MAX_BUCKETS:
            self._sweep(at)
            if len(self._local) >= MAX_BUCKETS:
                who = _OVERFLOW
        if who not in self._local:
            self._local[who] = _LocalBucket(self.grant, self.grant, at, self._rate.burst, at)
        return who, self._local[who]

    def _is_due(self, bucket: _LocalBucket, at: float) -> bool:
        enough = max(1.0, self._rate.per_second * _REFILL_SECONDS)
        want = self.grant - bucket.tokens
        return bool(bucket.debt) or self._level(bucket, at) >= min(enough, max(1, want))

    def _level(self, bucket: _LocalBucket, at: float) -> float:
        return self._rate.after(bucket.level, at - bucket.level_at)

    def _sweep(self, at: float) -> None:
        """Drop callers whose shared bucket is full again, at most once a second."""
        if at - self._swept_at < _SWEEP_SECONDS:
            return
        self._swept_at, full = at, self._rate.seconds_to_fill
        idle = [who for who, bucket in self._local.items() if at - bucket.used_at >= full]
        for who in idle:
            if not self._local[who].debt:
                del self._local[who]
                self._pending.discard(who)
