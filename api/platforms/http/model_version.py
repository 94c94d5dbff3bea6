"""Which model answers, where every answer says it: one at a time, and never back and forth."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from api.platforms.fault_isolation import PlatformDownError

# Longer than an audit reads. After a model was taken back, audits wait this long, or for a restart.
SETTLED_SECONDS = 600.0


@dataclass
class AnsweringModel:
    """An audit whose scores come from two models is given back, and begins again with the new one.

    A service on several machines may answer with the old and the new model in turn while one
    replaces the other. A model that was left does not come back at once, so two equal digests
    before and after a reading mean that no other model answered in between.
    """

    _current: str
    clock: Callable[[], float] = time.monotonic
    _left: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def current(self, told: str) -> str:
        """Return the model whose answers are accepted; `told` is the one that the platform states
        now.
        """
        with self._lock:
            if self._may_come(told):
                self._become(told)
            return self._current

    def is_of(self, digest: str) -> bool:
        """Whether an answer that says so may be taken."""
        with self._lock:
            return digest == self._current

    def require(self, answered: str) -> None:
        """Refuse what another model answered about nobody, and take its answers from now on.

        No answer about a person decides it: otherwise a person who makes the platform state another
        digest, or none, would end everybody's audits (R2).
        """
        with self._lock:
            if answered == self._current:
                return
            if self._may_come(answered):
                self._become(answered)
        raise PlatformDownError("the model changed while it was read", case="model-changed")

    def _may_come(self, digest: str) -> bool:
        left_at = self._left.get(digest)
        return left_at is None or self.clock() - left_at > SETTLED_SECONDS

    def _become(self, digest: str) -> None:
        if self._current != digest:
            self._left[self._current] = self.clock()
        self._left.pop(digest, None)
        self._current = digest
