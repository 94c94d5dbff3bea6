"""Readiness of this process: the result of its last background write, and the age of that write.

The heartbeat (`api.audits.queue.heartbeats`) writes to the database every few seconds and records
the result here. Probes read it from memory. They need no thread and no connection, so an overload
of either does not affect them. No figure here depends on anybody's data (R2).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from openapi.wire_model import Wire

WriteResult = Literal["ok", "failed", "none"]
# Maximum age of the last write, in intervals between two writes.
INTERVALS = 3


class Readiness(Wire):
    """Last background write of this process."""

    status: Literal["ok", "unavailable"]
    last_write: WriteResult
    age_seconds: float | None
    limit_seconds: float

    @property
    def is_ready(self) -> bool:
        return self.status == "ok"

    @property
    def reason(self) -> str:
        """Return one sentence that says why the process is not ready."""
        if self.last_write == "none":
            return "the first background write to the database is not finished yet"
        if self.last_write == "failed":
            return f"the background write to the database failed {self.age_seconds} s ago"
        return (
            f"the last background write to the database is {self.age_seconds} s old;"
            f" the limit is {self.limit_seconds} s"
        )


@dataclass(frozen=True)
class _Write:
    result: WriteResult
    at: float | None


@dataclass
class WriteRecord:
    """Record of background writes. One thread writes it, any thread reads it.

    `seconds` is the interval between two writes.
    """

    seconds: float
    clock: Callable[[], float] = time.monotonic
    _last: _Write = field(default=_Write("none", None))

    @property
    def limit_seconds(self) -> float:
        """Age in seconds from which the last write is too old."""
        return INTERVALS * self.seconds

    def record(self, *, succeeded: bool) -> None:
        """Record the result of a write that has just ended."""
        self._last = _Write("ok" if succeeded else "failed", self.clock())

    def readiness(self) -> Readiness:
        """Return whether this process can write to its database, by its last write."""
        last = self._last
        age = None if last.at is None else self.clock() - last.at
        ready = last.result == "ok" and age is not None and age <= self.limit_seconds
        return Readiness(
            status="ok" if ready else "unavailable",
            last_write=last.result,
            age_seconds=None if age is None else round(age, 1),
            limit_seconds=self.limit_seconds,
        )
