"""Processor time of some processes, as Linux counts it."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT = 1  # of the fields of proc_pid_stat(5) after the name, counted from 0
# in user mode and in the kernel, of the process and of its ended children
_OWN_AND_REAPED = slice(11, 15)


def busy(processes: Iterable[int], work: Callable[[], object]) -> float:
    """Return the processor seconds of these processes and all their children during the work."""
    families = list(processes)
    before = sum(map(_seconds, families))
    work()
    return sum(map(_seconds, families)) - before


def children(process: int | None = None) -> list[int]:
    """Return the living child processes of this process, or of the given one."""
    tasks = Path(f"/proc/{process or 'self'}/task").glob("*/children")
    return [int(child) for task in tasks for child in _read(task).split()]


def parent(process: int) -> int:
    return int(_fields(process)[_PARENT])


def _seconds(process: int) -> float:
    own = sum(map(int, _fields(process)[_OWN_AND_REAPED])) / _TICKS
    return own + sum(map(_seconds, children(process)))


def _fields(process: int) -> list[str]:
    return _read(Path(f"/proc/{process}/stat")).rpartition(")")[2].split()


def _read(path: Path) -> str:
    """Return no time for a process that has just ended: its parent has it."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
