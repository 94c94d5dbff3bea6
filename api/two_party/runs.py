"""Runs under way in this process: their parties hold keys, and are in memory alone.

The process that begins a run must receive all of its messages. Any other process answers that a new
run must begin, which costs nothing. A load balancer keeps the messages together by the path
`/v1/audits/{id}/exchange`. If a process dies, only its parties are lost.
"""

import threading
import time
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from api.kernel.errors import UnavailableError
from api.kernel.settings import Settings
from privacy.two_party.errors import WrongProofError

if TYPE_CHECKING:
    from api.two_party.platform_half import PlatformHalf
    from privacy.two_party import PlatformParty


@dataclass
class LiveRun:
    """A platform party, the half of the platform that it reads, and all messages so far."""

    name: str
    party: "PlatformParty"
    half: "PlatformHalf"
    # Bytes of memory that it takes, by its declared sizes.
    size: int
    messages: list[bytes] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    touched: float = field(default_factory=time.monotonic)

    def receive(self, message: bytes) -> bytes:
        """Return the party's answer: the same one to the same message.

        A party whose proof did not hold answers nothing, until that failure is committed.
        """
        self.touched = time.monotonic()
        if self.party.refuted:
            raise WrongProofError("The proof of this run did not hold.")
        before = self.party.number
        reply = self.party.receive(message)
        if self.party.answered and before != self.party.number:
            self.messages += chain.from_iterable(self.party.final.items())
        elif before != self.party.number:
            self.messages += [message, reply]
        return reply

    def began_with(self, message: bytes) -> bool:
        return self.messages[:1] == [message]


class LiveRuns:
    """Live runs by audit: at most one each."""

    def __init__(self) -> None:
        self._live: dict[str, LiveRun] = {}
        self._lock = threading.Lock()

    def find(self, audit_id: str) -> LiveRun | None:
        with self._lock:
            return self._live.get(audit_id)

    def refuse_full(self, audit_id: str, size: int, settings: Settings) -> None:
        """Drop runs that were idle too long; then raise if there is no room for this one.

        All runs of a process together take no more memory than one audit may.
        """
        oldest = time.monotonic() - settings.two_party_idle_seconds
        with self._lock:
            self._live = {name: run for name, run in self._live.items() if run.touched > oldest}
            others = [run.size for name, run in self._live.items() if name != audit_id]
            many = len(others) >= settings.two_party_runs
            if many or sum(others) + size > max(size, settings.audit_memory_bytes):
                raise UnavailableError(
                    "The service has its maximum of two-party runs under way. Nothing was lost."
                    " Try again.",
                    headers={"Retry-After": "30"},
                    case="too-many-runs",
                )

    def add(self, audit_id: str, run: LiveRun) -> None:
        """Add the run; it replaces an earlier one of the same audit."""
        with self._lock:
            self._live[audit_id] = run

    def remove(self, audit_id: str, run: LiveRun) -> None:
        with self._lock:
            if self._live.get(audit_id) is run:
                del self._live[audit_id]
