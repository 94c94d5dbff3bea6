"""Faults around a process: a clock that is changed, a disk that fills up, a step that waits.

A test says so by files in the process's folder; the process looks at them all the time.
"""

import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from api.kernel import clock, failpoints
from api.kernel.failpoints import Failpoint


class Surroundings:
    """The files, from outside of the process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def hold(self, boundary: Failpoint) -> None:
        """Make threads that reach the boundary wait there."""
        (self.folder / "hold").write_text(boundary.name)

    def holding(self) -> bool:
        return (self.folder / "held").exists()

    def let_go(self) -> None:
        (self.folder / "hold").unlink()

    def turn_clock(self, by: timedelta) -> None:
        new = self.folder / "clock.new"
        new.write_text(str(by.total_seconds()))
        new.rename(self.folder / "clock")

    def fill_disk(self) -> None:
        """From now on the SQLite file cannot grow."""
        (self.folder / "full").touch()

    def free_disk(self) -> None:
        (self.folder / "full").unlink()


def live_in(folder: Path, engine: Engine) -> None:
    """Make this process see its surroundings."""
    _hold(folder)
    follow_clock(folder / "clock")
    if engine.dialect.name == "sqlite":
        _fill(folder, engine)


def _hold(folder: Path) -> None:
    reached = failpoints.hit

    def held(boundary: Failpoint) -> None:
        reached(boundary)
        while _text(folder / "hold") == boundary.name:
            (folder / "held").touch()
            time.sleep(0.01)

    failpoints.hit = held


def follow_clock(file: Path) -> None:
    """Move every clock of this process but the monotonic one by the seconds in the file."""
    true_now, true_time = clock.now, time.time

    def ahead() -> float:
        return float(_text(file) or 0)

    def turned() -> Any:
        return true_now() + timedelta(seconds=ahead())

    for module in list(sys.modules.values()):
        if module.__name__.startswith("api.") and getattr(module, "now", None) is true_now:
            setattr(module, "now", turned)  # noqa: B010  (mypy knows no such attribute)
    time.time = lambda: true_time() + ahead()


def _fill(folder: Path, engine: Engine) -> None:
    def limit(connection: Any) -> None:
        # SQLite makes of 1 the number of pages that there are.
        pages = 1 if (folder / "full").exists() else 2**31
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}").fetchall()

    event.listen(engine, "begin", limit)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""
