"""Two hundred sockets at the same time on one read route: every one of them gets an answer."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.load.goals import Goal, quantile
from tests.load.http import Answer, Socket
from tests.load.probe import TIMES_IDLE
from tests.load.routes import As, Route

SOCKETS = 200
# Seconds within which all of them have an answer.
WITHIN = 10.0
# Seconds for the p99 of shed answers, or as many times the idle p99 of `/healthz`: shedding comes
# before work. In a burst 200 answers, which one thread writes, wait for each other.
SHED_WITHIN, BURST_SHED_WITHIN = 0.1, 0.25

Identities = Mapping[As, Sequence[Mapping[str, str]]]


@dataclass(frozen=True)
class Burst:
    """The answers to one burst of parallel requests."""

    route: Route
    answers: Sequence[Answer]
    cpu: float = 0.0  # of one core, used by this process

    @property
    def unanswered(self) -> list[Answer]:
        return [each for each in self.answers if each.status == 0]

    @property
    def unexpected(self) -> list[Answer]:
        """Neither the answer of this route nor deliberate shedding."""
        expected = (self.route.expected, 0)
        return [e for e in self.answers if e.status not in expected and not e.is_shed]

    @property
    def shed_seconds(self) -> list[float]:
        return [each.seconds for each in self.answers if each.is_shed]

    def goals(self, name: str, idle: float) -> list[Goal]:
        """Return the goals: proper answers alone, enough of them, and quick shedding.

        `idle` is the p99 of `/healthz` when nothing else happens, in seconds.
        """
        expected = self.route.expected
        good = sum(each.status == expected for each in self.answers)
        bad = len(self.unanswered) + len(self.unexpected)
        statuses = Counter(each.status for each in self.answers)
        told = ", ".join(f"{count} x {status or 'none'}" for status, count in statuses.items())
        slowest = max(each.seconds for each in self.answers)
        name = f"{name}: {len(self.answers)} sockets on {self.route.template}"
        shed = self.shed_seconds
        told = f"{told}; slowest {slowest:.2f} s; {self.cpu:.0%} of a core"
        least = min(self.route.least, len(self.answers))
        goals = [
            Goal(f"{name}: unanswered", bad, 0, detail=told),
            Goal(f"{name}: answered with {expected}", good, least, at_least=True),
        ]
        if not shed:
            return goals
        limit = shed_limit(idle, BURST_SHED_WITHIN)
        p99 = quantile(shed, 0.99)
        return [*goals, Goal(f"{name}: p99 of shed answers", p99, limit, "s", is_speed=True)]


def shed_limit(idle: float, floor: float = SHED_WITHIN) -> float:
    """Return the most that the p99 of shed answers may be, in seconds."""
    return max(TIMES_IDLE * idle, floor)


def burst(url: str, route: Route, identities: Identities, sockets: int = SOCKETS) -> Burst:
    """Ask on this many new sockets at the same time; callers take turns."""
    callers = identities[route.by]
    headers = [callers[number % len(callers)] for number in range(sockets)]
    began, used = time.monotonic(), time.process_time()
    answers = asyncio.run(_all(url, route.path, headers))
    took = max(1e-9, time.monotonic() - began)
    return Burst(route, answers, (time.process_time() - used) / took)


async def _all(url: str, path: str, headers: Sequence[Mapping[str, str]]) -> list[Answer]:
    """Connect all sockets, and then ask on all of them."""
    sockets = [Socket(url) for _ in headers]
    try:
        async with asyncio.timeout(WITHIN):
            await asyncio.gather(*(socket.connect() for socket in sockets))
        asked = (
            socket.ask("GET", path, each, within=WITHIN)
            for socket, each in zip(sockets, headers, strict=True)
        )
        return await asyncio.gather(*asked)
    finally:
        for socket in sockets:
            socket.close()
