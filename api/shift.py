"""Workers at work, each in a thread of its own, and the end of their shift.

Told to stop, they take up nothing more. They have some time to finish what they are at; an audit
that takes longer is left to another worker, which begins it anew on the same charge.
"""

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from api.worker import Worker


@dataclass
class Shift:
    workers: Sequence[Worker]
    # How long they have to finish.
    seconds: float
    # Set when there may be something to do.
    wake: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _until: float = math.inf

    def __post_init__(self) -> None:
        # What was left to another must not keep the process from ending.
        self._threads = [
            threading.Thread(target=each.run, args=(self._stop, self.wake), daemon=True)
            for each in self.workers
        ]

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()

    def tell(self) -> None:
        """Take up nothing more: the time to finish is counted from now."""
        if not self._stop.is_set():
            self._until = time.monotonic() + self.seconds
            self._stop.set()
            self.wake.set()

    def end(self) -> None:
        """Finish what is begun, or leave it."""
        if not any(thread.is_alive() for thread in self._threads):
            return
        self.tell()
        for worker, thread in zip(self.workers, self._threads, strict=True):
            thread.join(max(0.0, self._until - time.monotonic()))
            if thread.is_alive():
                worker.park()
