"""Thread of a worker, and its orderly stop.

After a request to stop, the worker claims no more audits. It has some time to finish the present
one. An audit that takes longer is left to another worker, which begins it again on the same charge.
"""

import gc
import math
import threading
import time
from dataclasses import dataclass, field

from api.audits.queue.worker import Worker

# Number of new objects that starts a garbage collection. Python's default suits small programs.
_GC_THRESHOLD = 10_000


def freeze_startup_objects() -> None:
    """Exclude the objects of start-up from garbage collection, which would take 0.1 s each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD)


@dataclass
class WorkerThread:
    worker: Worker
    # Set when there may be an audit to run.
    wake: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _until: float = math.inf

    def __post_init__(self) -> None:
        # A daemon thread: an audit left to another worker must not keep the process from ending.
        self._thread = threading.Thread(
            target=self.worker.run, args=(self._stop, self.wake), name="worker", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def request_stop(self) -> None:
        """Claim no more audits; the time to finish counts from now."""
        if not self._stop.is_set():
            self._until = time.monotonic() + self.worker.settings.shutdown_seconds
            self._stop.set()
            self.wake.set()

    def stop(self) -> None:
        """Finish the present audit, or leave it to another worker when the time is over."""
        if not self._thread.is_alive():
            return
        self.request_stop()
        self._thread.join(max(0.0, self._until - time.monotonic()))
        if self._thread.is_alive():
            self.worker.hand_over()
