"""A worker at work in a thread of its own, and the end of its shift.

Told to stop, it takes up nothing more. It has some time to finish what it is at; an audit that
takes longer is left to another worker, which begins it anew on the same charge.
"""

import gc
import math
import threading
import time
from dataclasses import dataclass, field

from api.audits.queue.worker import Worker

# Objects that come before they are looked through for garbage: Python's own number is for programs
# that are small.
_GC_THRESHOLD = 10_000


def freeze_startup_objects() -> None:
    """Exclude the objects of start-up from garbage collection, which would take 0.1 s each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD)


@dataclass
class WorkerThread:
    worker: Worker
    # Set when there may be something to do.
    wake: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _until: float = math.inf

    def __post_init__(self) -> None:
        # What was left to another must not keep the process from ending.
        self._thread = threading.Thread(
            target=self.worker.run, args=(self._stop, self.wake), name="worker", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def request_stop(self) -> None:
        """Take up nothing more: the time to finish is counted from now."""
        if not self._stop.is_set():
            self._until = time.monotonic() + self.worker.settings.shutdown_seconds
            self._stop.set()
            self.wake.set()

    def stop(self) -> None:
        """Finish what is begun, or leave it."""
        if not self._thread.is_alive():
            return
        self.request_stop()
        self._thread.join(max(0.0, self._until - time.monotonic()))
        if self._thread.is_alive():
            self.worker.hand_over()
