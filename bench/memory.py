"""Increase of memory at the peak of some work, as Linux counts it."""

import ctypes
import gc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def in_a_fresh_process(measure: Callable[[int], float], size: int) -> float:
    """Return the measurement of a fresh process without earlier allocations."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(measure, size).result()


def peak_of(work: Callable[[], object]) -> float:
    """Return the bytes above the earlier use; memory freed earlier is returned to the system
    first.
    """
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    _CLEAR.write_text("5")  # the peak is reset to the current use
    before = _bytes("VmRSS")
    work()
    return _bytes("VmHWM") - before


def _bytes(field: str) -> float:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * float(line.split()[1])
