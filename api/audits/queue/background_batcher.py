"""Work that is done beside its giver: all that came meanwhile at once.

Who is given little does it at once; who is given more than it can do one by one has more to do at
once. No more than so much waits: then the giver does.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Generic, TypeVar

Given = TypeVar("Given")

log = logging.getLogger(__name__)


class Beside(Generic[Given]):
    """A thread that does what it is given, until the block ends and everything is done."""

    def __init__(self, do: Callable[[Sequence[Given]], object], most: int, name: str) -> None:
        self._do, self._most = do, most
        self._changed = threading.Condition()
        self._waiting: list[Given] = []
        self._busy = self._ends = False
        # What cannot be done in time must not keep the process from ending.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> "Beside[Given]":
        self._thread.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        with self._changed:
            self._ends = True
            self._changed.notify_all()
        self._thread.join()

    def give(self, one: Given) -> None:
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < self._most)
            self._waiting.append(one)
            self._changed.notify_all()

    def wait(self) -> bool:
        """Until everything is done; whether anything was to be."""
        with self._changed:
            if self._idle():
                return False
            self._changed.wait_for(self._idle)
            return True

    def _idle(self) -> bool:
        return not self._waiting and not self._busy

    def _run(self) -> None:
        while some := self._next():
            try:
                self._do(some)
            except BaseException:  # whatever it is, nobody is left to wait for this thread
                log.exception("%s.error", self._thread.name)
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _next(self) -> list[Given]:
        """All that waits, as soon as anything does; nothing when there will be no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ends)
            some, self._waiting = self._waiting, []
            self._busy = bool(some)
            self._changed.notify_all()
        return some
