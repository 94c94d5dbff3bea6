"""Admission: a bounded number of requests in progress, of one caller and in total.

A request beyond the bound is refused before anything is done for it: 429 where its caller has too
many in progress, 503 where everybody together has, both with `Retry-After`. Probes need no slot.
Regulators and operators have slots of their own. While a body arrives its request holds no slot.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.types import Scope

from api.app.capacity import Share
from api.app.claims import claimed_role
from api.errors import OverloadedError, RateLimitedError
from api.metrics import IN_PROGRESS, SHED
from api.web.headers import header

PROBES = ("/healthz", "/readyz")
# Requests that have slots of their own because they take long: class, methods and path.
_BY_PATH = (
    ("exports", ("GET",), re.compile(r"/exports?(/|$)|/two-party-runs/[^/]+/messages$")),
    ("uploads", ("PUT", "POST"), re.compile(r"/audiences/[^/]+/(groups/[^/]+/members|seal)$")),
    ("exchanges", ("POST",), re.compile(r"^/v1/audits/[^/]+/exchange$")),
    ("applications", ("POST",), re.compile(r"^/v1/applications$")),
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
    def hold(self, caller: str) -> Iterator["Slot"]:
        """Hold a slot for one request of this caller, or refuse it."""
        slot = Slot(self, caller)
        slot.take()
        try:
            yield slot
        finally:
            slot.give_back()

    def take(self, caller: str) -> None:
        if self._in_progress[caller] >= self.share.per_caller:
            SHED.labels(self.name, "caller").inc()
            raise RateLimitedError(
                f"You have {self.share.per_caller} requests in progress. Nothing was done."
                f" Try again in {_RETRY_AFTER} s.",
                headers={"Retry-After": _RETRY_AFTER},
            )
        if self._total >= self.share.total:
            SHED.labels(self.name, "total").inc()
            raise OverloadedError(
                f"The service is busy. Nothing was done. Try again in {_RETRY_AFTER} s.",
                headers={"Retry-After": _RETRY_AFTER},
            )
        self._in_progress[caller] += 1
        self._total += 1
        IN_PROGRESS.labels(self.name).set(self._total)

    def give_back(self, caller: str) -> None:
        self._in_progress[caller] -= 1
        if not self._in_progress[caller]:
            del self._in_progress[caller]
        self._total -= 1
        IN_PROGRESS.labels(self.name).set(self._total)


@dataclass
class Slot:
    """One request's slot, which may be given back before the request ends."""

    slots: Slots
    caller: str
    _held: bool = False

    def take(self) -> None:
        self.slots.take(self.caller)
        self._held = True

    def give_back(self) -> None:
        if self._held:
            self._held = False
            self.slots.give_back(self.caller)


class Admission:
    """The slots of every class of requests."""

    def __init__(self, shares: Mapping[str, Share]) -> None:
        self._slots = {name: Slots(name, share) for name, share in shares.items()}

    def slots_for(self, scope: Scope) -> Slots | None:
        """Return the slots that a request needs one of; None if it needs none."""
        name = classify(scope)
        return None if name is None else self._slots[name]


def classify(scope: Scope) -> str | None:
    """Return the class of a request, from its method, path and unverified token."""
    method, path = scope["method"], scope["path"]
    if path in PROBES:
        return None
    for name, methods, pattern in _BY_PATH:
        if method in methods and pattern.search(path):
            return name
    if header(scope, b"authorization") is None:
        return "anonymous"
    return "oversight" if claimed_role(scope) in ("regulator", "operator") else "requests"
