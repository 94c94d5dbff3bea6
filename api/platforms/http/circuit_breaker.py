"""Circuit breaker that people's data cannot open (R2).

Only calls that concern nobody are counted. If failures about people were counted too, somebody for
whom the adapter fails could make it look down, and an audit would fail because of its people.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from api.platforms.fault_isolation import PlatformDownError

Found = TypeVar("Found")


@dataclass
class Breaker:
    """Check whether the platform is up: `attempts` times with growing pauses, then a pause.

    After `rest_seconds` one attempt decides.
    """

    attempts: int
    first_pause: float
    rest_seconds: float
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _opened_at: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_open(self) -> bool:
        return self._opened_at is not None

    def require_up(self, probe: Callable[[], Found], failure: type[Exception]) -> Found:
        """Return the result of the probe. One thread probes, and the others use its result."""
        with self._lock:
            if self._opened_at is not None and self.clock() - self._opened_at < self.rest_seconds:
                raise PlatformDownError(
                    "The platform does not answer. The service tries again after a pause.",
                    case="left-alone",
                )
            cause = None
            for attempt in range(1 if self.is_open else self.attempts):
                if attempt:
                    self.sleep(self.first_pause * 2 ** (attempt - 1))
                try:
                    found = probe()
                except failure as error:
                    cause = error
                    continue
                self._opened_at = None
                return found
            self._opened_at = self.clock()
            raise PlatformDownError("The platform does not answer.", case="silent") from cause
