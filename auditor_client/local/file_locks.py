"""Exclusive locks on files. The system releases a lock when its holder ends, even by a crash.

The holder leaves a note in the file. A process that finds the file locked has it open. So it can
read the note even if the holder then ends and deletes the file.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# Seconds between two reads of a lock whose holder has not yet written its note.
_NOTE_POLL_SECONDS = 0.001
_NOTE_BYTES = 4_096


@dataclass(frozen=True)
class HeldLock:
    """A lock that another process holds: its process identifier and its note."""

    holder: str
    note: str


@dataclass(frozen=True)
class FileLock:
    """A lock that this process holds, until `release`."""

    path: Path
    handle: int

    @classmethod
    def acquire(cls, path: Path, note: str) -> Self | HeldLock:
        """Return the lock, or its holder. Wait only for the holder's note."""
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                found = _lock_or_read(handle)
            except BaseException:
                os.close(handle)
                raise
            if found is None and _is_still(path, handle):
                lock = cls(path, handle)
                lock.write(note)
                return lock
            os.close(handle)
            if found is not None:
                return found

    def write(self, note: str) -> None:
        """Leave a note of one line, and the identifier of this process."""
        os.ftruncate(self.handle, 0)
        os.pwrite(self.handle, f"{note}\n{os.getpid()}\n".encode(), 0)

    def release(self, *, remove: bool = False) -> None:
        """Release the lock; `remove` first deletes its file, while nobody else holds it."""
        if remove:
            self.path.unlink(missing_ok=True)
        os.close(self.handle)


def _lock_or_read(handle: int) -> HeldLock | None:
    """Lock the file and return None, or return its holder's note."""
    while not _locked(handle):
        match os.pread(handle, _NOTE_BYTES, 0).decode(errors="replace").split("\n"):
            case [note, holder, ""]:
                return HeldLock(holder, note)
        time.sleep(_NOTE_POLL_SECONDS)
    return None


def _is_still(path: Path, handle: int) -> bool:
    """Return whether the locked file is still at its path: its last holder may have deleted it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


if sys.platform == "win32":  # pragma: no cover

    def _locked(handle: int) -> bool:  # noqa: ARG001
        """Return False if another process holds the lock. Windows has no `flock`: parallel commands
        are not detected there.
        """
        return True
else:
    import fcntl

    def _locked(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
