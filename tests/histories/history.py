"""Histories: what a client asked and what it was answered, written down before it goes on.

A history is a file of JSON lines, each of them on the disk before the next step. It is also the
client's journal: after a kill the client reads it and resumes the operation that has no answer.
Times are of the machine's monotonic clock, so they compare between processes.
"""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

What = Literal["sent", "lost", "done", "refused", "begun"]
ANSWERS = ("done", "refused")


@dataclass(frozen=True)
class Event:
    """One line: `sent`, then `done`, `refused` (by a code) or `lost` (nobody knows)."""

    client: str
    number: int  # of the operation
    does: str
    what: What
    at: float
    said: dict[str, Any]


class Journal:
    """The history that a client writes."""

    def __init__(self, path: Path, client: str) -> None:
        self.path, self._client = path, client
        _drop_torn_line(path)
        self._file = path.open("a")

    def write(self, number: int, does: str, what: What, **said: Any) -> Event:
        """Write one line, and return when the disk has it."""
        event = Event(self._client, number, does, what, time.monotonic(), said)
        self._file.write(json.dumps(vars(event)) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        return event


def read(path: Path) -> list[Event]:
    """Return the events of a history; a line that a kill tore does not count."""
    if not path.exists():
        return []
    whole = path.read_text().rpartition("\n")[0]
    return [Event(**json.loads(line)) for line in whole.splitlines()]


@dataclass
class Counter:
    """The number of events of each sort in growing histories, read as they grow."""

    paths: tuple[Path, ...]

    def __post_init__(self) -> None:
        self._at = dict.fromkeys(self.paths, 0)
        self._answered = self._lost = 0

    @property
    def answered(self) -> int:
        self._read()
        return self._answered

    @property
    def lost(self) -> int:
        self._read()
        return self._lost

    def _read(self) -> None:
        for line in self._new_lines():
            what = json.loads(line)["what"]
            self._answered += what in ANSWERS
            self._lost += what == "lost"

    def _new_lines(self) -> Iterator[bytes]:
        for path in self.paths:
            if not path.exists():
                continue
            with path.open("rb") as file:
                file.seek(self._at[path])
                whole = file.read().rpartition(b"\n")[0]
            if whole:
                self._at[path] += len(whole) + 1
                yield from whole.splitlines()


def _drop_torn_line(path: Path) -> None:
    if path.exists():
        data = path.read_bytes()
        os.truncate(path, data.rfind(b"\n") + 1)
