"""Admission: a bounded number of requests in progress, of one caller and in total.

A request beyond the bound is refused before anything is done for it: 429 where its caller has too
many in progress, 503 where everybody together has, both with `Retry-After`. A class that refuses
many asks for a longer wait, so that clients who come again cost less. Probes need no slot.
Regulators and operators have slots of their own, and so do sign-in, credentials that are verified
for the first time, and bodies that arrive.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.types import Scope

from api.app.capacity import Share
from api.kernel.errors import OverloadedError, RateLimitedError
from api.telemetry.metrics import IN_PROGRESS, SHED

Refusal = OverloadedError | RateLimitedError

PROBES = ("/healthz", "/readyz")
_OVERSIGHT = ("regulator", "operator")
# Requests of anybody that have slots of their own: class, methods and path.
_OF_ANYBODY = (
    ("sign-in", ("POST",), re.compile(r"^/oauth/(token|revoke)$|^/console/sign-out$")),
    ("sign-in", ("GET", "POST"), re.compile(r"^/console/sign-in(/|$)")),
    ("applications", ("POST",), re.compile(r"^/v1/applications$")),
)
# Requests of researchers that have slots of their own because they take long.
_OF_RESEARCHERS = (
    ("exports", ("GET",), re.compile(r"/exports?(/|$)|/two-party-runs/[^/]+/messages$")),
    ("uploads", ("PUT", "POST"), re.compile(r"/audiences/[^/]+/(groups/[^/]+/members|seal)$")),
    ("exchanges", ("POST",), re.compile(r"^/v1/audits/[^/]+/exchange$")),
    ("quotes", ("POST",), re.compile(r"^/v1/audits/prices?$")),
)
# Seconds after which a refused request should come again, at least and at most.
_SOONEST, _LATEST = 1, 5
# Refusals a second of one class, for each of which everybody refused waits a second longer.
_BEARABLE = 40


@dataclass
class RetryAfter:
    """The wait that a class asks of those it refuses: longer where it refuses many."""

    clock: Callable[[], float] = time.monotonic
    _second: int = 0
    _now: int = 0
    _before: int = 0

    def next(self) -> str:
        """Count one refusal, and return the seconds after which it should come again."""
        second = int(self.clock())
        if second != self._second:
            self._before = self._now if second == self._second + 1 else 0
            self._second, self._now = second, 0
        self._now += 1
        return str(min(_LATEST, _SOONEST + self._before // _BEARABLE))


@dataclass
class Slots:
    """The requests of one class that are in progress. Used by the event loop alone."""

    name: str
    share: Share
    _in_progress: Counter[str] = field(default_factory=Counter)
    _total: int = 0
    # Callers who have as many requests in progress as one may have.
    _at_limit: int = 0
    _retry_after: RetryAfter = field(default_factory=RetryAfter)

    def __post_init__(self) -> None:
        """Show every class in the metrics from the start."""
        IN_PROGRESS.labels(self.name)
        for reason in ("caller", "total"):
            SHED.labels(self.name, reason)

    @contextmanager
    def hold(self, caller: str) -> Iterator[None]:
        """Hold a slot for one request of this caller, or refuse it."""
        self.take(caller)
        try:
            yield
        finally:
            self.give_back(caller)

    def take(self, caller: str) -> None:
        """Take a slot, or raise the refusal."""
        if (refusal := self.refusal(caller)) is not None:
            raise refusal
        self._in_progress[caller] += 1
        self._at_limit += self._in_progress[caller] == self.share.per_caller
        self._total += 1
        IN_PROGRESS.labels(self.name).set(self._total)

    def refusal(self, caller: str | None) -> Refusal | None:
        """Return the refusal of a request, and count it; None if there is a slot for it.

        Where the caller is not known, only the slots of everybody together count.
        """
        if caller is not None and self._in_progress[caller] >= self.share.per_caller:
            SHED.labels(self.name, "caller").inc()
            seconds = self._retry_after.next()
            return RateLimitedError(
                f"You have {self.share.per_caller} requests in progress. Nothing was done."
                f" Try again in {seconds} s.",
                headers={"Retry-After": seconds},
            )
        return self.overloaded() if self.are_taken else None

    @property
    def are_taken(self) -> bool:
        """Whether everybody together has all slots."""
        return self._total >= self.share.total

    @property
    def may_refuse(self) -> bool:
        """Whether there is anybody whose next request is refused."""
        return self.are_taken or self._at_limit > 0

    def overloaded(self) -> OverloadedError:
        """Return the refusal of a request because the service is busy, and count it."""
        SHED.labels(self.name, "total").inc()
        seconds = self._retry_after.next()
        return OverloadedError(
            f"The service is busy. Nothing was done. Try again in {seconds} s.",
            headers={"Retry-After": seconds},
        )

    def give_back(self, caller: str) -> None:
        self._at_limit -= self._in_progress[caller] == self.share.per_caller
        self._in_progress[caller] -= 1
        if not self._in_progress[caller]:
            del self._in_progress[caller]
        self._total -= 1
        IN_PROGRESS.labels(self.name).set(self._total)


class Admission:
    """The slots of every class of requests."""

    def __init__(self, shares: Mapping[str, Share]) -> None:
        self._slots = {name: Slots(name, share) for name, share in shares.items()}

    def __getitem__(self, name: str) -> Slots:
        return self._slots[name]

    @property
    def may_refuse(self) -> bool:
        """Whether the next request of anybody is refused."""
        return any(slots.may_refuse for slots in self._slots.values())


def is_probe(scope: Scope) -> bool:
    """Whether a request needs no slot."""
    return scope["path"] in PROBES


def classify(scope: Scope, role: str | None) -> str:
    """Return the class of a request, from its method, its path and its caller's role, if known."""
    return class_of(scope["method"], scope["path"], role)


def class_of(method: str, path: str, role: str | None) -> str:
    """Return the class of a request, whose caller's role is None where nobody knows it."""
    named = _OF_ANYBODY if role is None else (*_OF_ANYBODY, *_OF_RESEARCHERS)
    for name, methods, pattern in named:
        if method in methods and pattern.search(path):
            return name
    if role is None:
        return "anonymous"
    return "oversight" if role in _OVERSIGHT else "requests"
