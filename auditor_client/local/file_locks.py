"""Exclusive locks on files. The system releases a lock when its holder ends, also by a crash."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class FileLock:
    """A lock that this process holds, until `release`."""

    path: Path
    handle: int

    @classmethod
    def acquire(cls, path: Path) -> Self | None:
        """Return the lock, or None if somebody holds it. Never waits."""
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if _locked(handle) and _is_still(path, handle):
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode(), 0)
            return cls(path, handle)
        os.close(handle)
        return None

    def release(self, *, remove: bool = False) -> None:
        """Let others have the lock; `remove` deletes its file first, while nobody else holds it."""
        if remove:
            self.path.unlink(missing_ok=True)
        os.close(self.handle)


def holder_of(path: Path) -> str:
    """Return the process identifier that the holder of a lock wrote into its file."""
    try:
        return path.read_text(encoding="ascii") or "unknown"
    except (OSError, ValueError):
        return "unknown"


def _is_still(path: Path, handle: int) -> bool:
    """Return whether the locked file is still at its path: its last holder may have deleted it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


if sys.platform == "win32":  # pragma: no cover

    def _locked(handle: int) -> bool:  # noqa: ARG001
        """Windows has no `flock`: parallel commands are not detected there."""
        return True
else:
    import fcntl

    def _locked(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
