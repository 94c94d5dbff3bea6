"""A simulated day of audits: waiting times by number of workers, under `api.audits.queue`.

Audits arrive at random, most of them in working hours. A worker takes the first queue position
whose auditor has fewer running audits than the limit (the service's own rule), and is busy until
the audit ends. The order of arrival is the comparison.
"""

import heapq
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from api.audits.queue.fair_queue import at_worker_quota
from api.kernel.settings import Settings
from privacy.tables.membership import BATCH

RUNNING_PER_AUDITOR: int = Settings.model_fields["running_per_auditor"].default


@dataclass(frozen=True, order=True)
class Job:
    at: float
    auditor: int
    people: int
    seconds: float


@dataclass
class Line:
    """Waiting audits by position: `fair` as in the service, else in the order of arrival."""

    fair: bool
    workers: int
    waiting: list[tuple[float, Job]] = field(default_factory=list)
    running: list[tuple[float, Job]] = field(default_factory=list)

    def join(self, job: Job) -> None:
        self.waiting.append((self._place(job) if self.fair else job.at, job))

    def _place(self, job: Job) -> float:
        everybody = (*self.running, *self.waiting)
        last = max((place for place, each in everybody if each.auditor == job.auditor), default=0.0)
        ahead = max(self.running)[0] if self.running else min(self.waiting, default=(0.0,))[0]
        return max(ahead, last) + 1 + job.people // BATCH

    def take(self) -> Job | None:
        """Return the next audit of an auditor with fewer running audits than the limit."""
        share = Counter(job.auditor for _, job in self.running)
        able = [each for each in self.waiting if self._may_run(share[each[1].auditor])]
        if not able:
            return None
        found = min(able)
        self.waiting.remove(found)
        self.running.append(found)
        return found[1]

    def _may_run(self, running: int) -> bool:
        return not (self.fair and at_worker_quota(running, RUNNING_PER_AUDITOR, self.workers))

    def leave(self, job: Job) -> None:
        self.running = [each for each in self.running if each[1] is not job]


def waits(jobs: list[Job], workers: int, *, fair: bool = True) -> dict[Job, float]:
    """Return the time that each audit waits for a worker."""
    line, found = Line(fair, workers), dict[Job, float]()
    ends: list[tuple[float, Job]] = []
    coming = sorted(jobs)[::-1]
    while coming or ends:
        if not ends or (coming and coming[-1].at <= ends[0][0]):
            now = coming[-1].at
            line.join(coming.pop())
        else:
            now, over = heapq.heappop(ends)
            line.leave(over)
        while len(ends) < workers and (job := line.take()):
            found[job] = now - job.at
            heapq.heappush(ends, (now + job.seconds, job))
    return found


def arrivals(count: int, rng: np.random.Generator, working: float = 0.8) -> list[float]:
    """Return instants of a day: most of them from 8 to 18 o'clock, the rest at any time."""
    at_work = rng.random(count) < working
    hours = np.where(at_work, rng.uniform(8, 18, count), rng.uniform(0, 24, count))
    return [float(hour) * 3_600 for hour in hours]
