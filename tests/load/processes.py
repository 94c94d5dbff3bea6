"""Generator processes: at most two, started together, bounded in time, ended by their id."""

import multiprocessing
import multiprocessing.context
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

AT_MOST = 2
_READY_SECONDS = 60.0
# Between the word to start and the start, so that both processes have it.
_LEAD = 0.1

Job = TypeVar("Job")
Report = TypeVar("Report")


@dataclass(frozen=True)
class Generated(Generic[Report]):
    """Reports of the processes, and the share of one core that each used; None for one killed."""

    reports: list[Report | None]
    cpu: list[float]

    @property
    def complete(self) -> list[Report]:
        return [report for report in self.reports if report is not None]

    @property
    def cpu_share(self) -> str:
        """Say how much of a core each process used."""
        return " and ".join(f"{share:.0%}" for share in self.cpu) + " of a core"


def generate(
    work: Callable[[Job, float], Report], jobs: Sequence[Job], seconds: float
) -> Generated[Report]:
    """Run `work(job, start)` for each job in a process of its own, for at most these seconds."""
    assert len(jobs) <= AT_MOST
    context = _context()
    ours: list[Connection] = []
    processes: list[BaseProcess] = []
    for job in jobs:
        mine, theirs = context.Pipe()
        process: BaseProcess = context.Process(target=_main, args=(work, job, theirs), daemon=True)
        process.start()
        theirs.close()
        ours.append(mine)
        processes.append(process)
    try:
        return _collect(ours, seconds)
    finally:
        for process in processes:
            _end(process)


@cache
def _context() -> multiprocessing.context.ForkServerContext:
    """Fork from a process that has imported everything: a new interpreter takes seconds."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.load.generator", "tests.load.sdk"])
    return context


def _collect(pipes: Sequence[Connection], seconds: float) -> Generated[Report]:
    for pipe in pipes:
        assert pipe.poll(_READY_SECONDS), "a generator process did not start"
        pipe.recv()
    start = time.monotonic() + _LEAD
    for pipe in pipes:
        pipe.send(start)
    deadline = start + seconds
    found: list[tuple[Report | None, float]] = [_report(pipe, deadline) for pipe in pipes]
    return Generated([report for report, _ in found], [cpu for _, cpu in found])


def _report(pipe: Connection, deadline: float) -> tuple[Report | None, float]:
    try:
        if pipe.poll(max(0.0, deadline - time.monotonic())):
            report, cpu = pipe.recv()
            return report, cpu
    except EOFError:
        pass
    return None, 0.0


def _main(work: Callable[[Job, float], Report], job: Job, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe.send(os.getpid())
    start: float = pipe.recv()
    time.sleep(max(0.0, start - time.monotonic()))
    used = time.process_time()
    report = work(job, start)
    took = max(1e-9, time.monotonic() - start)
    pipe.send((report, (time.process_time() - used) / took))


def _end(process: BaseProcess) -> None:
    process.join(2.0)
    if process.is_alive():
        process.kill()
        process.join()
