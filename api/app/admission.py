"""Admission: a bounded number of requests in progress, of one caller and in total.

A request beyond the bound is refused before anything is done for it: 429 where its caller has too
many in progress, 503 where everybody together has, both with `Retry-After`. Probes need no slot.
Regulators and operators have slots of their own, and so do sign-in, credentials that are verified
for the first time, and bodies that arrive.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from starlette.types import Scope

from api.app.capacity import Share
from api.kernel.errors import OverloadedError, RateLimitedError
from api.telemetry.metrics import IN_PROGRESS, SHED

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
# Seconds after which a refused request should come again.
_RETRY_AFTER = "1"


@dataclass
class Slots:
    """The requests of one class that are in progress. Used by the event loop alone."""

    name: str
    share: Share
    _in_progress: Counter[str] = field(default_factory=Counter)
    _total: int = 0

    @contextmanager
    def hold(self, caller: str) -> Iterator[None]:
        """Hold a slot for one request of this caller, or refuse it."""
        self.take(caller)
        try:
            yield
        finally:
            self.give_back(caller)

    def take(self, caller: str) -> None:
        if self._in_progress[caller] >= self.share.per_caller:
            SHED.labels(self.name, "caller").inc()
            raise RateLimitedError(
                f"You have {self.share.per_caller} requests in progress. Nothing was done."
                f" Try again in {_RETRY_AFTER} s.",
                headers={"Retry-After": _RETRY_AFTER},
            )
        if self.are_taken:
            self.shed()
        self._in_progress[caller] += 1
        self._total += 1
        IN_PROGRESS.labels(self.name).set(self._total)

    @property
    def are_taken(self) -> bool:
        """Whether everybody together has all slots."""
        return self._total >= self.share.total

    def shed(self) -> NoReturn:
        """Refuse a request because the service is busy."""
        self.count_shed()
        raise overloaded()

    def count_shed(self) -> None:
        SHED.labels(self.name, "total").inc()

    def give_back(self, caller: str) -> None:
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
    def is_busy(self) -> bool:
        """Whether any class has no slot left."""
        return any(slots.are_taken for slots in self._slots.values())


def overloaded() -> OverloadedError:
    """Return the refusal of a busy service."""
    return OverloadedError(
        f"The service is busy. Nothing was done. Try again in {_RETRY_AFTER} s.",
        headers={"Retry-After": _RETRY_AFTER},
    )


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
