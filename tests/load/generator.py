"""Load on the main path: a closed loop that finds the capacity, and an open loop beyond it.

Arrivals of the open loop follow a Poisson process whose rate does not depend on the answers.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tests.load.main_path import PATIENCE, Arrival, go
from tests.load.processes import AT_MOST, Generated, generate
from tests.load.researchers import Researcher

# Seconds after the last arrival in which those under way may try again.
DRAIN = 5.0
# Seconds for the last answers to come, and for a process to report.
_REPORT = PATIENCE + 10.0


@dataclass(frozen=True)
class Job:
    """A share of the load: `rate` arrivals a second, or `visitors` one audit after the other."""

    url: str
    researchers: Sequence[Researcher]
    seconds: float
    seed: int
    rate: float = 0.0
    visitors: int = 0


@dataclass(frozen=True)
class Load:
    """The outcome of all arrivals of one run; the measurement is from `begin` to `end`."""

    arrivals: Sequence[Arrival]
    begin: float
    end: float
    lost_processes: int
    cpu_share: str

    @property
    def rate(self) -> float:
        """Audits released per second."""
        inside = (self.begin <= a.ended < self.end for a in self._of("released"))
        return sum(inside) / (self.end - self.begin)

    @property
    def shed_seconds(self) -> list[float]:
        return [seconds for arrival in self.arrivals for seconds in arrival.shed]

    def count(self, outcome: str) -> int:
        return len(self._of(outcome))

    def _of(self, outcome: str) -> list[Arrival]:
        return [arrival for arrival in self.arrivals if arrival.outcome == outcome]

    def details(self, outcome: str, most: int = 3) -> str:
        """Say which answers these were, the most frequent first."""
        found = Counter(arrival.detail[:160] for arrival in self._of(outcome))
        return "; ".join(f"{count} x {detail}" for detail, count in found.most_common(most))


def closed_loop(
    url: str, researchers: Sequence[Researcher], visitors: int, seconds: float, warm_up: float
) -> Load:
    """Load the service with concurrent visitors, each with one audit after the other."""
    jobs = [
        Job(url, researchers[part::AT_MOST], seconds, part, visitors=visitors // AT_MOST)
        for part in range(AT_MOST)
    ]
    return _load(generate(_closed, jobs, seconds + DRAIN + _REPORT), seconds, warm_up)


def open_loop(
    url: str, researchers: Sequence[Researcher], rate: float, seconds: float, warm_up: float
) -> Load:
    """Offer this many arrivals per second, whatever the answers are."""
    jobs = [
        Job(url, researchers[part::AT_MOST], seconds, part, rate=rate / AT_MOST)
        for part in range(AT_MOST)
    ]
    return _load(generate(_open, jobs, seconds + DRAIN + _REPORT), seconds, warm_up)


_Report = tuple[float, list[Arrival]]


def _load(found: Generated[_Report], seconds: float, warm_up: float) -> Load:
    arrivals = [arrival for _, part in found.complete for arrival in part]
    start = min((start for start, _ in found.complete), default=0.0)
    lost = len(found.reports) - len(found.complete)
    return Load(arrivals, start + warm_up, start + seconds, lost, found.cpu_share)


def _closed(job: Job, start: float) -> _Report:
    return start, asyncio.run(_visitors(job, start))


async def _visitors(job: Job, start: float) -> list[Arrival]:
    end = start + job.seconds

    async def visitor(number: int) -> list[Arrival]:
        found: list[Arrival] = []
        while time.monotonic() < end:
            researcher = job.researchers[(number + len(found)) % len(job.researchers)]
            found.append(await go(job.url, researcher, end + DRAIN))
            if found[-1].outcome != "released":
                await asyncio.sleep(0.1)
        return found

    parts = await asyncio.gather(*map(visitor, range(job.visitors)))
    return [arrival for part in parts for arrival in part]


def _open(job: Job, start: float) -> _Report:
    return start, asyncio.run(_arrivals(job, start))


async def _arrivals(job: Job, start: float) -> list[Arrival]:
    rng, end, due = random.Random(job.seed), start + job.seconds, start
    tasks: list[asyncio.Task[Arrival]] = []
    while (due := due + rng.expovariate(job.rate)) < end:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        who = job.researchers[len(tasks) % len(job.researchers)]
        tasks.append(asyncio.create_task(go(job.url, who, end + DRAIN)))
    return list(await asyncio.gather(*tasks))
