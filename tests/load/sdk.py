"""Many SDK clients at the same time, each with a connection and an audit of its own.

Clients are threads of at most two processes. They share the researchers.
"""

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from auditor_client import Auditor
from tests.load.processes import AT_MOST, generate
from tests.load.researchers import Researcher


@dataclass(frozen=True)
class Job:
    """A process's share of the clients."""

    url: str
    clients: Sequence[Researcher]
    seconds: float


@dataclass(frozen=True)
class Clients:
    """The number of started clients, the end of each (seconds after the start), and errors."""

    started: int
    finished: Sequence[float]
    errors: Counter[str]
    cpu_share: str

    @property
    def rate(self) -> float:
        """Audits per second until the last client finished; 0 where none did."""
        return len(self.finished) / max(self.finished) if self.finished else 0.0


def run(url: str, researchers: Sequence[Researcher], clients: int, seconds: float) -> Clients:
    """Start this many clients together, and wait at most these seconds for all."""
    who = [researchers[number % len(researchers)] for number in range(clients)]
    jobs = [Job(url, who[part::AT_MOST], seconds) for part in range(AT_MOST)]
    found = generate(_clients, jobs, seconds + 10.0)
    finished = [at for times, _ in found.complete for at in times]
    errors = sum((errors for _, errors in found.complete), Counter[str]())
    return Clients(clients, finished, errors, found.cpu_share)


def _clients(job: Job, start: float) -> tuple[list[float], Counter[str]]:
    finished: list[float] = []
    errors: Counter[str] = Counter()

    def client(researcher: Researcher) -> None:
        try:
            _audit(job.url, researcher)
            finished.append(time.monotonic() - start)
        except Exception as error:  # any failure of a client is a finding
            errors[f"{type(error).__name__}: {error}"[:200]] += 1

    threads = [threading.Thread(target=client, args=(each,), daemon=True) for each in job.clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, start + job.seconds - time.monotonic()))
    late = sum(thread.is_alive() for thread in threads)
    return list(finished), errors + Counter({"not finished in time": late})


def _audit(url: str, researcher: Researcher) -> None:
    with Auditor(url, researcher.id, researcher.key) as auditor:
        audit = auditor.audits.submit(researcher.request)
        auditor.audits.finish(audit.id, progress=False)
