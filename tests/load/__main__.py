"""`make load`: overload and hostile traffic on the real service, on both databases.

python -m tests.load                  one read route for each shape; 1 and 8 times the capacity
python -m tests.load --allow-slow     the same, and a speed that is missed does not fail
python -m tests.load --long           every read route; 1, 2, 4 and 8 times the capacity
python -m tests.load --long --table   the same, and the rows of the table in
docs/reference/benchmarks.md
"""

import argparse
import math
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.load.goals import Goal, Judge, StuckError
from tests.load.measures import Run
from tests.load.scene import Scene, scene
from tests.load.settling import PATIENCE, wait_until_idle

CI, LONG, TABLE = (1, 8), (1, 2, 4, 8), (0.25, 0.5, 1, 2, 4, 8)
# In the short size each database has its share of what does not depend on the database.
MEASURES = {
    "sqlite": ("read_routes", "main_path", "slow_connections", "unread_answers", "planner_flood"),
    "postgresql": ("read_routes", "main_path", "sdk_clients"),
}
ALL = (
    "read_routes",
    "main_path",
    "sdk_clients",
    "slow_connections",
    "unread_answers",
    "planner_flood",
)
# Sockets of this process: as many slow connections as are opened, and probes.
_DESCRIPTORS = 4_096


def main() -> int:
    given = _arguments()
    # Stopped from outside, it still stops the database and the processes that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    _raise_descriptors()
    judge, rows = Judge(partial(print, flush=True)), list[str]()
    with tempfile.TemporaryDirectory(prefix="load-") as folder:
        os.environ["PLATFORM_AUDITOR_HOME"] = str(Path(folder) / "home")
        with ExitStack() as stack:
            for found in _scenes(stack, given.on, Path(folder)):
                rows += _measure(judge, found, given)
    if given.table:
        print(TITLE, *rows, sep="\n")
    print(judge)
    return 1 if (judge.broken if given.allow_slow else judge.missed) else 0


TITLE = (
    "| database | times capacity | offered per s | released per s | shed | p50 | p99 | p99 of shed"
    " | p99 of /healthz |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def _scenes(stack: ExitStack, names: Sequence[str], folder: Path) -> list[Scene]:
    """Start the services in parallel, and return when all of them are idle."""
    began = time.monotonic()
    with ThreadPoolExecutor(len(names)) as pool:
        entered = pool.map(lambda name: stack.enter_context(scene(name, folder / name)), names)
    found = list(entered)
    for each in found:
        print(f"  {each.name}: idle p99 of /healthz {each.idle:.3f} s", flush=True)
    print(f"  started: {time.monotonic() - began:.0f} s", flush=True)
    return found


def _measure(judge: Judge, found: Scene, given: argparse.Namespace) -> list[str]:
    run = Run(found, given.long, TABLE if given.table else LONG if given.long else CI)
    chosen = given.only or (ALL if given.long else MEASURES[found.name])
    try:
        for measure in chosen:
            began = time.monotonic()
            for part in run.parts(measure):
                judge.hold(part, partial(wait_until_idle, found.url))
            print(f"  {found.name}, {measure}: {time.monotonic() - began:.0f} s", flush=True)
    except StuckError:
        judge.count([Goal(f"{found.name}: the service is stuck", math.inf, PATIENCE, "s")])
    return run.rows


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.load")
    parser.add_argument("--long", action="store_true", help="every route; 1, 2, 4 and 8 times")
    parser.add_argument("--allow-slow", action="store_true", help="missed speeds do not fail")
    parser.add_argument("--table", action="store_true", help="print the rows of the table")
    parser.add_argument("--on", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--only", nargs="+", choices=ALL, help="only these measurements")
    return parser.parse_args()


def _raise_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _DESCRIPTORS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(_DESCRIPTORS, hard), hard))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
