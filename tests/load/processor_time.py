"""Processor time of the service, which says what work costs also while other programs run."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class ProcessorTime:
    """Seconds of processor time that a process used, and seconds that passed meanwhile."""

    used: float = 0.0
    passed: float = 0.0

    def per_audit(self, audits: int) -> str:
        """Say what one released audit cost, everything else that was done meanwhile included."""
        each = f"{1000 * self.used / audits:.0f} ms" if audits else "nothing released"
        return f"service: {self.used / max(self.passed, 1e-9):.0%} of a core, {each} per audit"


@contextmanager
def processor_time(pid: int) -> Iterator[ProcessorTime]:
    """Measure a process for as long as the block runs; the result is complete after it."""
    found, began, used = ProcessorTime(), time.monotonic(), _used(pid)
    try:
        yield found
    finally:
        found.used, found.passed = _used(pid) - used, time.monotonic() - began


def _used(pid: int) -> float:
    # Fields 14 and 15 of proc(5); the second one, the name, may have spaces and ends with ")".
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
