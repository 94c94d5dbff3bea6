"""Trials in forked processes, a few at a time."""

import multiprocessing
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic

from tests.mutants.mutant import Mutant
from tests.mutants.trial import Trial, read, run

# A child that neither computes nor ends is stuck: this is far beyond what any of them takes.
STUCK_SECONDS = 1_800


@dataclass(frozen=True)
class Order:
    """Tests to run, with a mutant or without."""

    tests: tuple[str, ...]
    mutant: Mutant | None = None


@dataclass
class _Running:
    order: Order
    process: BaseProcess
    report: Path
    began: float


def tried(orders: Sequence[Order], workers: int) -> Iterator[tuple[Order, Trial, float]]:
    """Yield each order with its trial and the seconds it took, in the order in which they end."""
    waiting, running = list(reversed(orders)), list[_Running]()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        while waiting or running:
            while waiting and len(running) < workers:
                running.append(_started(waiting.pop(), Path(folder) / f"{len(waiting)}.json"))
            wait([each.process.sentinel for each in running], timeout=5)
            for each in list(running):
                if not _ended(each):
                    continue
                running.remove(each)
                yield each.order, read(each.report), monotonic() - each.began


def _started(order: Order, report: Path) -> _Running:
    fork = multiprocessing.get_context("fork")
    process = fork.Process(target=run, args=(order.tests, order.mutant, report))
    process.start()
    return _Running(order, process, report, monotonic())


def _ended(one: _Running) -> bool:
    if one.process.is_alive() and monotonic() - one.began > STUCK_SECONDS:
        one.process.kill()
    if one.process.is_alive():
        return False
    one.process.join()
    return True
