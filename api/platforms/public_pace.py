"""Public paces: the end of an act as a function of public numbers alone (R2).

An act on n identifiers that begins at time t ends, for everybody outside, at t + d(n), where d(n) =
(seconds + n / rate) · 1.25^level. An act that needs longer is late: it ends at the next public
time, which is a quarter longer, and so on. A late act shows only the number of its steps.

A late act also raises the level of its size class, so that later acts take the same time whether
they would have been late or not. The level falls by one every 200 seconds: by half in ten minutes.
In t seconds a size class thus shows at most L + t / 200 steps in one process, where L steps cover
the slowest act; and none if every act ends within its declared time.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from api.kernel.settings import Settings
from api.telemetry.metrics import LATE_AUDITS

# Factor between two successive public times of a late act.
STEP = 1.25
# Seconds after which the level of a size class falls by one.
LEVEL_SECONDS = 200.0


@dataclass
class Pace:
    """A pace of `seconds` for each act and of `rate` identifiers per second."""

    seconds: float
    rate: float
    clock: Callable[[], float] = time.monotonic
    level_seconds: float = LEVEL_SECONDS
    _levels: dict[int, tuple[int, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def duration(self, identifiers: int) -> float:
        """Return the public duration of an act on this number of identifiers, in seconds."""
        with self._lock:
            return self._declared(identifiers) * STEP ** self._level(identifiers)

    def extend(self, identifiers: int, duration: float) -> float:
        """Return the next public duration after a late one, which later acts of the size get."""
        with self._lock:
            steps = round(math.log(duration / self._declared(identifiers), STEP)) + 1
            if steps > self._level(identifiers):
                self._levels[identifiers.bit_length()] = steps, self.clock()
            return self._declared(identifiers) * STEP**steps

    def _declared(self, identifiers: int) -> float:
        return self.seconds + identifiers / self.rate

    def _level(self, identifiers: int) -> int:
        level, raised = self._levels.get(identifiers.bit_length(), (0, 0.0))
        return max(0, level - int((self.clock() - raised) // self.level_seconds))


class ReleasePace:
    """Pace of releases, kind by kind; there is none if `audit_seconds` is 0, the default."""

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.clock, self._sleep = clock, sleep
        self._seconds, self._rate = settings.audit_seconds, settings.audit_rate
        self._paces: dict[str, Pace] = {}

    def due(self, begun: float, kind: str, identifiers: int) -> float:
        """Return the release time of an audit that began at `begun` and is ready now."""
        if not self._seconds:
            return begun
        pace = self._paces.setdefault(kind, Pace(self._seconds, self._rate, self.clock))
        duration = pace.duration(identifiers)
        if self.clock() > begun + duration:
            LATE_AUDITS.inc()
        while self.clock() > begun + duration:
            duration = pace.extend(identifiers, duration)
        return begun + duration

    def wait(self, due: float) -> None:
        """Sleep until the release time."""
        if (seconds := due - self.clock()) > 0:
            self._sleep(seconds)
