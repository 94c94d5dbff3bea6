"""`make faults`: kill -9 at every step boundary, on both databases, and look at what is left.

python -m tests.faults            each boundary, on SQLite the second time it is reached as well
python -m tests.faults --long     that on both, and many sequences of several kills, drawn at random
"""

import argparse
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.kernel.failpoints import Failpoint
from tests.faults import exchanging
from tests.faults.case import CANCELLING, Case, Scenario, scenario_of
from tests.faults.exploring import EXPLORING, SHARED
from tests.faults.host import Kill
from tests.faults.scene import Databases, on_postgresql, on_sqlite

SEQUENCES = 100
KILLS = 6
# What only one scenario reaches.
AT_THEIR_OWN = (*CANCELLING, *EXPLORING, *exchanging.EXCHANGING, *exchanging.RECORDING)
# While three releases are made and committed together.
TOGETHER = (
    Kill(Failpoint.CLAIMED, 3),
    Kill(Failpoint.SIGNED, 3),
    Kill(Failpoint.RELEASE_WRITTEN),
    Kill(Failpoint.RELEASE_COMMITTED),
)


@dataclass(frozen=True)
class Outcome:
    line: str
    kills: int
    violations: list[str]


def once(name: str, databases: Databases, folder: Path, kill: Kill, scenario: Scenario) -> Outcome:
    """One boundary, which must be reached."""
    folder.mkdir()
    began = time.monotonic()
    case = Case(databases.copy(), folder, (kill,))
    violations = case.run(scenario)
    if case.orders.killed != 1:
        violations.append("the boundary was not reached")
    line = f"{name}: killed {kill}: {_verdict(violations)}, {time.monotonic() - began:.1f} s"
    return Outcome(line, case.orders.killed, violations)


def in_a_row(name: str, databases: Databases, folder: Path, plan: tuple[Kill, ...]) -> Outcome:
    """Several kills, one after the other, as many as are reached."""
    folder.mkdir()
    case = Case(databases.copy(), folder, plan)
    violations = case.run(Case.everything)
    done = "; ".join(kill.boundary.name for kill in plan[: case.orders.killed])
    line = f"{name}: killed at {done}: {_verdict(violations)}"
    return Outcome(line, case.orders.killed, violations)


def trials(*, again: bool) -> Iterator[tuple[Kill, Scenario]]:
    """Each boundary the first time it is reached; with `again` the second, and every message."""
    for boundary in Failpoint:
        for time_reached in (1, 2) if again and boundary not in exchanging.RECORDING else (1,):
            yield Kill(boundary, time_reached), scenario_of(boundary)
    for kill in TOGETHER:
        yield kill, Case.together
    for boundary in SHARED:
        yield Kill(boundary), Case.explores
    for boundary in exchanging.EXCHANGING:
        for message in range(3, exchanging.EXCHANGES + 1) if again else ():
            yield Kill(boundary, message), exchanging.exchanges
    for boundary in exchanging.SHARED:
        yield Kill(boundary), exchanging.exchanges


def auditors_die(name: str, databases: Databases, folder: Path) -> Outcome:
    """The other side, at every message."""
    folder.mkdir()
    violations = Case(databases.copy(), folder, ()).run(exchanging.auditors_die)
    line = f"{name}: auditors killed at every message: {_verdict(violations)}"
    return Outcome(line, 2 * exchanging.EXCHANGES, violations)


def plans(rng: random.Random, count: int) -> Iterator[tuple[Kill, ...]]:
    for _ in range(count):
        ordinary = [each for each in Failpoint if each not in AT_THEIR_OWN]
        kills = [Kill(rng.choice(ordinary), rng.choice((1, 1, 2))) for _ in range(KILLS)]
        yield (*kills, Kill(rng.choice(CANCELLING)))


@contextmanager
def pool_of(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that begin nothing more once the block has failed or was stopped."""
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def run(folder: Path, *, long: bool, seed: int, jobs: int) -> list[Outcome]:
    outcomes = []
    rng = random.Random(seed)
    with on_postgresql(folder) as postgresql, pool_of(jobs) as pool:
        waiting = []
        for name, databases in (("sqlite", on_sqlite(folder)), ("postgresql", postgresql)):
            for kill, scenario in trials(again=long or databases is not postgresql):
                place = folder / f"{name}-{kill.boundary.name}-{kill.time}-{scenario.__name__}"
                waiting.append(pool.submit(once, name, databases, place, kill, scenario))
            place = folder / f"{name}-auditors"
            waiting.append(pool.submit(auditors_die, name, databases, place))
            for number, plan in enumerate(plans(rng, SEQUENCES if long else 0)):
                place = folder / f"{name}-row-{number}"
                waiting.append(pool.submit(in_a_row, name, databases, place, plan))
        for future in waiting:
            outcome = future.result()
            print(outcome.line, flush=True)
            outcomes.append(outcome)
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--long", action="store_true", help="several kills in a row as well")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--jobs", type=int, default=3)
    given = parser.parse_args()
    # Stopped from outside, it still stops the database and the processes that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        outcomes = run(Path(folder), long=given.long, seed=given.seed, jobs=given.jobs)
    violations = sum(len(outcome.violations) for outcome in outcomes)
    if given.long:
        print(f"seed {given.seed}, {sum(outcome.kills for outcome in outcomes)} kills")
    print(f"{len(outcomes)} boundaries tried, {violations} violations")
    return 1 if violations else 0


def _verdict(violations: list[str]) -> str:
    return "VIOLATED: " + "; ".join(violations) if violations else "all holds"


if __name__ == "__main__":
    sys.exit(main())
