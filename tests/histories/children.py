"""Child processes: servers, workers and clients that a fault can kill, stop or deceive.

Children are forked from a process that has imported everything, so that a restart takes
milliseconds. Servers and workers run the command line of `platform-auditor`. A test sets their
surroundings through files: a clock for each of them, and whether the disk is full.
"""

import os
import resource
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from api.audiences import background_matcher, uploads
from api.operations import cli
from tests.faults.environment import follow_clock
from tests.faults.progress import count_idle_polls
from tests.histories.mistakes import OF_SERVICES

PRELOADED = ["tests.histories.children", "tests.histories.client", "tests.faults.compiled"]
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
# After this many seconds a part that no process matches counts as lost; in production it is 30.
GRACE_SECONDS = 1.5
# Starting a process looks after all others too, and only one may read how another ended.
PROCESSES = threading.Lock()


@dataclass
class Child:
    """A process that is started again after a kill, under the same name."""

    name: str
    folder: Path
    target: Callable[..., None]
    arguments: tuple[Any, ...]
    process: ForkServerProcess | None = field(default=None)

    @property
    def pid(self) -> int:
        assert self.process
        assert self.process.pid
        return self.process.pid

    @property
    def exit_code(self) -> int | None:
        assert self.process
        with PROCESSES:
            return self.process.exitcode

    def start(self) -> None:
        context = get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        with PROCESSES:
            given = (self.folder, self.name, self.target, self.arguments)
            self.process = context.Process(target=_run, args=given, daemon=True)
            self.process.start()

    def kill(self) -> None:
        """Send SIGKILL: no goodbye, no clean-up."""
        if self.process is not None:
            with PROCESSES:
                self.process.kill()
                self.process.join()

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)

    def set_clock(self, seconds: float) -> None:
        """Set the clock ahead, or back."""
        new = self.folder / f"clock-{self.name}.new"
        new.write_text(str(seconds))
        new.rename(self.folder / f"clock-{self.name}")

    def limit_files(self, size: int | None) -> None:
        """Let no file of this process be written beyond this size."""
        limits = UNLIMITED if size is None else (size, resource.RLIM_INFINITY)
        with suppress(ProcessLookupError):
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, limits)


def _run(folder: Path, name: str, target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    log = os.open(folder / f"log-{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    target(folder, name, *arguments)


def run_service(folder: Path, name: str, command: list[str], mistake: str | None) -> None:
    """Run a command of `platform-auditor` in the surroundings of a history."""
    follow_clock(folder / f"clock-{name}")
    _limit_pages(folder / "full")
    _lose_parts_soon()
    count_idle_polls(folder)
    if mistake in OF_SERVICES:
        OF_SERVICES[mistake](folder)
    cli.app([*command, "--config", str(folder / "settings.toml")])


def _limit_pages(full: Path) -> None:
    """While there is a file `full`, the SQLite file cannot grow."""

    def limit(connection: Any) -> None:
        if connection.dialect.name == "sqlite":
            # SQLite makes of 1 the number of pages that there are.
            pages = 1 if full.exists() else 2**31
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}").fetchall()

    event.listen(Engine, "begin", limit)


def _lose_parts_soon() -> None:
    uploads.GRACE = timedelta(seconds=GRACE_SECONDS)
    background_matcher.HEARTBEAT = GRACE_SECONDS / 3
