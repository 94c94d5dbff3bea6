"""`make histories`: clients at work while things break, and a checker that reads all of it.

python -m tests.histories                  fixed seeds, SQLite and PostgreSQL
python -m tests.histories --long           more clients, more operations, more seeds
python -m tests.histories --seed 7         one seed, on both databases
python -m tests.histories --mistake NAME   a service or client with a mistake: the checker fails
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.histories.databases import on_postgresql, on_sqlite
from tests.histories.deployment import STOP, StoppedError
from tests.histories.mistakes import FAULTS
from tests.histories.plan import Breaks, Size, draw
from tests.histories.run import Outcome, run

SEEDS = ("1", "2")
LONG_SEEDS = tuple(str(number) for number in range(1, 21))
LONG = Size(clients=8, each=8, rounds=3)
SMALL = Size(clients=2, each=10)
# Seconds after which an audit is stuck in a history without clock steps.
SMALL_STUCK_SECONDS = 5.0


def play(folder: Path, seed: str, size: Size, *, postgresql: bool) -> Outcome:
    """Run one history on a database of its own."""
    plan = draw(seed, size, postgresql=postgresql)
    name = f"{'postgresql' if postgresql else 'sqlite'}, seed {seed}"
    place = folder / name.replace(", ", "-").replace(" ", "-")
    if postgresql:
        with on_postgresql() as database:
            return run(name, place, database, plan)
    return run(name, place, on_sqlite(place), plan)


def play_mistake(folder: Path, mistake: str, seed: str = "1") -> Outcome:
    """Run a small history of a deployment that makes a mistake."""
    plan = draw(seed, SMALL, postgresql=False, faults=FAULTS[mistake])
    place = folder / mistake
    name = f"{mistake}, seed {seed}"
    return run(name, place, on_sqlite(place), plan, mistake, SMALL_STUCK_SECONDS)


def play_all(
    folder: Path, seeds: Sequence[str], size: Size, databases: Sequence[str]
) -> list[Outcome]:
    """Run all histories, those of the two databases side by side."""

    def in_turn(database: str) -> list[Outcome]:
        found = []
        for seed in seeds:
            found.append(play(folder, seed, size, postgresql=database == "postgresql"))
            print(found[-1], flush=True)
        return found

    with ThreadPoolExecutor(len(databases)) as pool:
        return [each for some in pool.map(in_turn, databases) for each in some]


def never_effective(outcomes: Sequence[Outcome]) -> list[Breaks]:
    """Return the kinds of faults that were tried and had no effect in any history."""
    tried = {each for outcome in outcomes for each in outcome.without_effect}
    return sorted(each for each in tried if not any(o.effects[each] for o in outcomes))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.histories")
    parser.add_argument("--long", action="store_true", help="more of everything")
    parser.add_argument("--seed", help="one seed (default: a fixed list)")
    parser.add_argument("--database", choices=("sqlite", "postgresql"), help="default: both")
    parser.add_argument("--keep", type=Path, help="a folder for histories and logs")
    parser.add_argument("--mistake", choices=sorted(FAULTS), help="make this mistake")
    given = parser.parse_args()
    # Stopped from outside, it still stops the database and the processes that it started.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: STOP.set())
    seeds = (given.seed,) if given.seed else LONG_SEEDS if given.long else SEEDS
    databases = (given.database,) if given.database else ("sqlite", "postgresql")
    with tempfile.TemporaryDirectory(prefix="histories-") as made:
        folder = given.keep or made
        if given.mistake:
            outcomes = [play_mistake(Path(folder), given.mistake, seeds[0])]
            print(outcomes[0])
        else:
            size = LONG if given.long else Size()
            outcomes = play_all(Path(folder), seeds, size, databases)
    violations = sum(len(outcome.violations) for outcome in outcomes)
    idle = [] if given.mistake else never_effective(outcomes)
    for each in idle:
        print(f"no history had an effect of: {each}")
    # Again at the end, where a log that was cut still shows them.
    for outcome in outcomes:
        if outcome.violations:
            print(outcome)
    print(
        f"histories: {sum(each.operations for each in outcomes)} operations,"
        f" {sum(each.faults for each in outcomes)} faults, {violations} violations"
    )
    return 1 if violations or (given.long and idle) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except StoppedError:
        sys.exit(143)
