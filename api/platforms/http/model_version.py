"""Version of the answering model, if every answer states it: one at a time, without returns."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from api.platforms.fault_isolation import PlatformDownError

# Longer than an audit reads. After a model was rolled back, audits wait this long, or for a
# restart.
SETTLED_SECONDS = 600.0


@dataclass
class AnsweringModel:
    """Model whose answers are accepted.

    An audit with scores of two models begins again with the new one.

    During an update, a service on several machines may answer with the old and the new model by
    turns. A replaced model is not accepted again soon. So equal digests before and after a reading
    mean that no other model answered in between.
    """

    _current: str
    clock: Callable[[], float] = time.monotonic
    _left: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def current(self, told: str) -> str:
        """Return the model whose answers are accepted.

        `told` is the model that the platform states now.
        """
        with self._lock:
            if self._may_come(told):
                self._become(told)
            return self._current

    def is_of(self, digest: str) -> bool:
        """Return whether an answer that states this model is accepted."""
        with self._lock:
            return digest == self._current

    def require(self, answered: str) -> None:
        """Refuse an answer of another model about nobody, and accept that model from now on.

        No answer about a person decides this. Otherwise a person who makes the platform state
        another digest, or none, would end everybody's audits (R2).
        """
        with self._lock:
            if answered == self._current:
                return
            if self._may_come(answered):
                self._become(answered)
        raise PlatformDownError("The model changed during the reduction.", case="model-changed")

    def _may_come(self, digest: str) -> bool:
        left_at = self._left.get(digest)
        return left_at is None or self.clock() - left_at > SETTLED_SECONDS

    def _become(self, digest: str) -> None:
        if self._current != digest:
            self._left[self._current] = self.clock()
        self._left.pop(digest, None)
        self._current = digest
