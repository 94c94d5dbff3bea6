"""Records of interrupted audits: each request is recorded before it is sent and may be charged.

A record is deleted when its result was delivered. Until then, the same request continues it under
the same idempotency key, so it is charged once.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from auditor_client.errors import (
    AboveLifetimeCapError,
    AuditFailedError,
    AuditTooLargeError,
    InvalidBinsError,
    MandateError,
    NoConsentError,
    NoiseTooLargeError,
    PlatformExhaustedError,
    UnsupportedAudienceError,
    UnsupportedAuditError,
)
from auditor_client.local.pending_claims import Busy, Claim, find_claim
from auditor_client.local.pending_record import PendingRecord
from auditor_client.local.progress import tell
from privacy.receipts import canonical, digest

# The service had no audit with this key when it refused: nothing was charged.
UNCHARGED = (
    MandateError,
    PlatformExhaustedError,
    AboveLifetimeCapError,
    UnsupportedAuditError,
    UnsupportedAudienceError,
    AuditTooLargeError,
    NoiseTooLargeError,
    NoConsentError,
    InvalidBinsError,
)
_LOCK_POLL_SECONDS = 0.2


class PendingAudits:
    """Pending audits of one researcher at one service. Threads may share the object.

    Without a folder nothing is written: an interrupted run can then be repeated only with the
    `idempotency_key` that its caller gave.
    """

    def __init__(self, folder: Path | None, service: str, researcher: str) -> None:
        self._folder = folder
        self._who = {"service": service, "by": researcher}
        self._lock = threading.Lock()
        self._delivered: dict[Claim, Path] = {}
        self._block = threading.local()
        self.left: list[Claim] = []

    @contextmanager
    def claimed(
        self, asked: Mapping[str, Any], *, key: str | None = None, new: bool = False
    ) -> Iterator[Claim]:
        """Claim a request until its result is delivered.

        `key` is an idempotency key that the caller stores: then nothing is recorded here.
        """
        claim = self._claim(asked, key=key, new=new)
        try:
            yield claim
        except (*UNCHARGED, AuditFailedError):
            claim.complete()
            raise
        except BaseException:
            self._leave(claim)
            raise
        self._deliver(claim)

    @contextmanager
    def until_saved(self) -> Iterator[None]:
        """Keep the records of all results delivered in this block until it ends without an error.

        So a program that is killed before it has saved a result finds the result again.
        """
        depth = getattr(self._block, "depth", 0)
        self._block.depth = depth + 1
        try:
            yield
        except BaseException:
            if not depth:
                self._end_block(self._leave)
            raise
        else:
            if not depth:
                self._end_block(Claim.complete)
        finally:
            self._block.depth = depth

    def is_pending(self, asked: Mapping[str, Any]) -> bool:
        """Return whether a record of this request exists and can be continued."""
        if self._folder is None:
            return False
        name = self._name(asked)
        return any(self._folder.glob(f"{name}*.json"))

    def _claim(self, asked: Mapping[str, Any], *, key: str | None, new: bool) -> Claim:
        fresh = PendingRecord.fresh(self._name(asked), key)
        if self._folder is None or key is not None:
            return Claim(fresh)
        shared: PendingRecord | None = None
        while True:
            found = find_claim(self._folder, shared or fresh, new=new, mine=self._mine())
            if isinstance(found, Claim):
                return self._taken(found, shared)
            if shared is None:
                tell(_sharing(found))
            shared = found.record
            time.sleep(_LOCK_POLL_SECONDS)

    def _taken(self, claim: Claim, shared: PendingRecord | None) -> Claim:
        """Return a claim; after a wait for another process, claim the audit that it ran."""
        if claim.resumed:
            tell(_continuing(claim.record))
        elif shared is not None:
            claim.record, claim.resumed = shared, True
            claim.save()
        return claim

    def _deliver(self, claim: Claim) -> None:
        if not getattr(self._block, "depth", 0):
            claim.complete()
            return
        self._results().append(claim)
        if claim.slot is not None:
            with self._lock:
                self._delivered[claim] = claim.slot.lock

    def _end_block(self, end: Any) -> None:
        for claim in self._results():
            with self._lock:
                self._delivered.pop(claim, None)
            end(claim)
        self._results().clear()

    def _leave(self, claim: Claim) -> None:
        claim.leave()
        with self._lock:
            self.left.append(claim)

    def _results(self) -> list[Claim]:
        """Return the claims of this thread's block whose results were delivered."""
        if not hasattr(self._block, "results"):
            self._block.results = []
        found: list[Claim] = self._block.results
        return found

    def _mine(self) -> frozenset[Path]:
        with self._lock:
            return frozenset(self._delivered.values())

    def _name(self, asked: Mapping[str, Any]) -> str:
        whole = canonical({**self._who, "asked": dict(asked)})
        return digest(whole).removeprefix("sha256:")[:32]


def _sharing(busy: Busy) -> str:
    return (
        f"Process {busy.holder} runs the same audit. This process waits and then shows "
        "the same result, which is charged once. To start another audit: --new (in "
        "Python: new=True)."
    )


def _continuing(record: PendingRecord) -> str:
    when = f"{record.begun_at:%Y-%m-%d %H:%M} UTC"
    if record.audit_id is not None:
        what = f"Continuing the interrupted audit of {when}: {record.charged}, already charged."
    elif record.sent:
        what = f"Continuing the audit that was sent at {when} and may have been charged."
    else:
        what = f"Continuing the audit that was begun at {when}; nothing was charged yet."
    return f"{what} It is charged once. To start another: --new (in Python: new=True)."
