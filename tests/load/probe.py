"""Probes of `/healthz`: one every 50 ms on a connection of its own, whether or not others wait.

A probe that is not answered does not delay the next, so a stall counts with its whole length.
"""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.load.goals import Goal, quantile
from tests.load.http import Socket

EVERY = 0.05
PATIENCE = 15.0
# The goal: this many times the idle p99, or this many seconds, whichever is larger.
TIMES_IDLE, FLOOR = 10.0, 0.25


@dataclass
class Probes:
    """Seconds that each probe took; a probe without an answer counts as `PATIENCE`."""

    url: str
    seconds: list[float] = field(default_factory=list)
    unanswered: int = 0

    @property
    def p99(self) -> float:
        return quantile(self.seconds, 0.99)

    async def run(self, stop: threading.Event) -> None:
        """Probe until told to stop, then wait for the answers that are outstanding."""
        async with asyncio.TaskGroup() as group:
            due = time.monotonic()
            while not stop.is_set():
                group.create_task(self._probe())
                due += EVERY
                await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _probe(self) -> None:
        async with Socket(self.url) as socket:
            headers = {"connection": "close"}
            answer = await socket.ask("GET", "/healthz", headers, within=PATIENCE)
        if answer.status == 200:
            self.seconds.append(answer.seconds)
        else:
            self.seconds.append(PATIENCE)
            self.unanswered += 1


@contextmanager
def probing(url: str) -> Iterator[Probes]:
    """Probe in a thread for as long as the block runs; the result is complete after it."""
    probes, stop = Probes(url), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(probes.run(stop)), name="probes")
    thread.start()
    try:
        yield probes
    finally:
        stop.set()
        thread.join()


def idle_p99(url: str, seconds: float) -> float:
    """Return the p99 of `/healthz` while nothing else happens."""
    with probing(url) as probes:
        time.sleep(seconds)
    return probes.p99


def health_goal(name: str, probes: Probes, idle: float) -> Goal:
    """Return the goal for `/healthz` under load."""
    limit = max(TIMES_IDLE * idle, FLOOR)
    told = f"{len(probes.seconds)} probes, {probes.unanswered} unanswered, idle {idle:.3f} s"
    return Goal(f"{name}: p99 of /healthz", probes.p99, limit, "s", detail=told, is_speed=True)
