"""The process that is killed: a real service on a socket, with a bomb at a step boundary.

Processes are forked from a server that has imported everything already, so that a restart takes
milliseconds. Each takes the next kill of the plan; when the plan is done, it lives.
"""

import os
import signal
import threading
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import uvicorn

from api.app.app import create_app
from api.app.container import build_container
from api.kernel import failpoints
from api.kernel.failpoints import Failpoint
from api.kernel.settings import Settings
from tests.faults import exchanging, told
from tests.faults.environment import live_in
from tests.faults.mutants import HABITS, MUTANTS
from tests.faults.progress import count_idle_polls
from tests.faults.tiny_platform import make

# What the process that starts us has imported too: a fork imports it again if it is not there.
PRELOADED = [
    "tests.faults.host",
    "tests.faults.scene",
    "tests.faults.case",
    "tests.faults.compiled",
]


@dataclass(frozen=True)
class Kill:
    """kill -9, the `time`-th time that a process reaches the boundary."""

    boundary: Failpoint
    time: int = 1

    def __str__(self) -> str:
        return self.boundary if self.time == 1 else f"{self.boundary} (time {self.time})"


@dataclass(frozen=True)
class Orders:
    """Everything a process is told."""

    settings: dict[str, Any]
    folder: Path
    plan: tuple[Kill, ...] = ()
    mutant: str | None = None

    @property
    def killed(self) -> int:
        return len(list(self.folder.glob("killed-*")))


@dataclass
class Bomb:
    """In place of `boundaries.reached`."""

    kill: Kill
    mark: Path
    seen: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, boundary: Failpoint) -> None:
        if boundary != self.kill.boundary:
            return
        with self.lock:
            self.seen += 1
            if self.seen == self.kill.time:
                self.mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)


def serve(orders: Orders, port: int) -> None:
    """Serve until killed."""
    log = os.open(orders.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    if orders.killed < len(orders.plan):
        bomb = Bomb(orders.plan[orders.killed], orders.folder / f"killed-{orders.killed}")
        failpoints.hit = bomb
    told.live_in(orders.folder)
    count_idle_polls(orders.folder)
    if orders.mutant:
        (MUTANTS | HABITS | exchanging.MUTANTS)[orders.mutant](orders.settings)
    service = build_container(Settings(**orders.settings), make(str(orders.folder)))
    live_in(orders.folder, service.store.engine)
    uvicorn.run(create_app(service), host="127.0.0.1", port=port, log_config=None)


def start(orders: Orders, port: int) -> ForkServerProcess:
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=serve, args=(orders, port), daemon=True)
    process.start()
    return process
