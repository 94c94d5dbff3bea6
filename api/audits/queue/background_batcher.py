"""Background batcher: a thread that processes all items that arrived during its last batch.

Under light load it takes each item at once. Under heavy load its batches grow. At most
`max_pending` items wait; while the queue is full, `submit` blocks.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Generic, TypeVar

Item = TypeVar("Item")

log = logging.getLogger(__name__)


class BackgroundBatcher(Generic[Item]):
    """A thread that processes the submitted items; on exit of the block it finishes them all."""

    def __init__(
        self, process: Callable[[Sequence[Item]], object], max_pending: int, name: str
    ) -> None:
        self._process, self._max_pending = process, max_pending
        self._changed = threading.Condition()
        self._waiting: list[Item] = []
        self._busy = self._ends = False
        # A daemon thread: unfinished items must not keep the process from ending.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> "BackgroundBatcher[Item]":
        self._thread.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        with self._changed:
            self._ends = True
            self._changed.notify_all()
        self._thread.join()

    def submit(self, item: Item) -> None:
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < self._max_pending)
            self._waiting.append(item)
            self._changed.notify_all()

    def drain(self) -> bool:
        """Wait until every item is processed; return whether there was any."""
        with self._changed:
            if self._idle():
                return False
            self._changed.wait_for(self._idle)
            return True

    def _idle(self) -> bool:
        return not self._waiting and not self._busy

    def _run(self) -> None:
        while batch := self._next():
            try:
                self._process(batch)
            except BaseException:  # of any kind: no other thread would handle it
                log.exception("%s.error", self._thread.name)
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _next(self) -> list[Item]:
        """Return all waiting items, as soon as there is one; return nothing after the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ends)
            batch, self._waiting = self._waiting, []
            self._busy = bool(batch)
            self._changed.notify_all()
        return batch
