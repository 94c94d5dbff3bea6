"""Admission: a limited number of requests in progress, per caller and in total.

A request above a limit is refused before anything is done for it, with `Retry-After`. The status is
429 if its caller has too many in progress, and 503 if all callers together have. A class that
refuses many requests asks for a longer wait, so that clients who retry cost less. Probes need no
slot. Regulators and operators have slots of their own. So do sign-in, credentials that are verified
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
# Requests of any caller that have slots of their own: class, methods and path.
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
# Minimum and maximum seconds after which a refused request may be sent again.
_SOONEST, _LATEST = 1, 5
# Refusals per second of one class; each further block of this number adds a second to the wait.
_BEARABLE = 40


@dataclass
class RetryAfter:
    """Wait that a class asks for when it refuses: longer if it refuses many requests."""

    clock: Callable[[], float] = time.monotonic
    _second: int = 0
    _now: int = 0
    _before: int = 0

    def next(self) -> str:
        """Count one refusal, and return the seconds after which the request may be sent again."""
        second = int(self.clock())
        if second != self._second:
            self._before = self._now if second == self._second + 1 else 0
            self._second, self._now = second, 0
        self._now += 1
        return str(min(_LATEST, _SOONEST + self._before // _BEARABLE))


@dataclass
class Slots:
    """Requests of one class that are in progress. Only the event loop uses it."""

    name: str
    share: Share
    _in_progress: Counter[str] = field(default_factory=Counter)
    _total: int = 0
    # Number of callers at their limit of requests in progress.
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

        For an unknown caller, only the total number of slots counts.
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
        """Whether all slots of the class are taken."""
        return self._total >= self.share.total

    @property
    def may_refuse(self) -> bool:
        """Whether the next request of some caller would be refused."""
        return self.are_taken or self._at_limit > 0

    def overloaded(self) -> OverloadedError:
        """Return and count the refusal of a request because the service is busy."""
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
    """Slots of every class of requests."""

    def __init__(self, shares: Mapping[str, Share]) -> None:
        self._slots = {name: Slots(name, share) for name, share in shares.items()}

    def __getitem__(self, name: str) -> Slots:
        return self._slots[name]

    @property
    def may_refuse(self) -> bool:
        """Whether the next request of some caller would be refused."""
        return any(slots.may_refuse for slots in self._slots.values())


def is_probe(scope: Scope) -> bool:
    """Return whether a request needs no slot."""
    return scope["path"] in PROBES


def classify(scope: Scope, role: str | None) -> str:
    """Return the class of a request, from its method, its path and its caller's role, if known."""
    return class_of(scope["method"], scope["path"], role)


def class_of(method: str, path: str, role: str | None) -> str:
    """Return the class of a request; `role` is None for an unknown caller."""
    named = _OF_ANYBODY if role is None else (*_OF_ANYBODY, *_OF_RESEARCHERS)
    for name, methods, pattern in named:
        if method in methods and pattern.search(path):
            return name
    if role is None:
        return "anonymous"
    return "oversight" if role in _OVERSIGHT else "requests"
