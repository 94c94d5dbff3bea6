"""Two hundred sockets at the same time on one read route: every one of them gets an answer."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.load.goals import Goal, quantile
from tests.load.http import Answer, Socket
from tests.load.routes import As, Route

SOCKETS = 200
# Seconds within which all of them have an answer.
WITHIN = 10.0
# Seconds for the p99 of shed answers: shedding comes before work.
SHED_WITHIN = 1.0

Identities = Mapping[As, Sequence[Mapping[str, str]]]


@dataclass(frozen=True)
class Burst:
    """The answers to one burst of parallel requests."""

    route: Route
    answers: Sequence[Answer]

    @property
    def unanswered(self) -> list[Answer]:
        return [each for each in self.answers if each.status == 0]

    @property
    def unexpected(self) -> list[Answer]:
        """Neither an answer, nor a missing object, nor deliberate shedding."""
        return [each for each in self.answers if each.status and not _is_expected(each)]

    @property
    def shed_seconds(self) -> list[float]:
        return [each.seconds for each in self.answers if each.is_shed]

    def goals(self, name: str) -> list[Goal]:
        """Return the goals: every socket gets a proper answer, and shedding is quick."""
        bad = len(self.unanswered) + len(self.unexpected)
        statuses = Counter(each.status for each in self.answers)
        told = ", ".join(f"{count} x {status or 'none'}" for status, count in statuses.items())
        slowest = max(each.seconds for each in self.answers)
        name = f"{name}: {len(self.answers)} sockets on {self.route.template}"
        shed = self.shed_seconds
        answered = Goal(f"{name}: unanswered", bad, 0, detail=f"{told}; slowest {slowest:.2f} s")
        if not shed:
            return [answered]
        p99 = quantile(shed, 0.99)
        return [answered, Goal(f"{name}: p99 of shed answers", p99, SHED_WITHIN, "s")]


def _is_expected(answer: Answer) -> bool:
    return 200 <= answer.status < 400 or answer.status == 404 or answer.is_shed


def burst(url: str, route: Route, identities: Identities, sockets: int = SOCKETS) -> Burst:
    """Ask on this many new sockets at the same time; callers take turns."""
    callers = identities[route.by]
    headers = [callers[number % len(callers)] for number in range(sockets)]
    return Burst(route, asyncio.run(_all(url, route.path, headers)))


async def _all(url: str, path: str, headers: Sequence[Mapping[str, str]]) -> list[Answer]:
    sockets = [Socket(url) for _ in headers]
    try:
        asked = (
            socket.ask("GET", path, each, within=WITHIN)
            for socket, each in zip(sockets, headers, strict=True)
        )
        return await asyncio.gather(*asked)
    finally:
        for socket in sockets:
            socket.close()
