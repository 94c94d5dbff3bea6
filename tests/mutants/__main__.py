"""Make deliberate mistakes one at a time, and see that the tests named for each of them fail.

python -m tests.mutants              mistakes whose tests are quick
python -m tests.mutants --long       all of them
python -m tests.mutants --only NAME  one of them, by name
"""

import argparse
import os
import sys
from collections.abc import Sequence

from tests.mutants.catalogue import MUTANTS
from tests.mutants.forking import Order, tried
from tests.mutants.mutant import Mutant, StaleMutantError
from tests.mutants.trial import preload
from tests.mutants.verdict import Verdict, judged, unsound

WORKERS = 2


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--long", action="store_true", help="also those with slow tests")
    parser.add_argument("--only", action="append", metavar="NAME", help="this mutant; may repeat")
    options = parser.parse_args(arguments)
    mutants = _chosen(options.only, long=options.long)
    # Threads of a parent do not survive a fork.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    preload()
    if problems := _problems_without(mutants):
        print(*problems, sep="\n")
        print("0 killed: the tests must pass without a mutant first")
        return 1
    verdicts = dict(_verdicts(mutants))
    states = [verdict.state for verdict in verdicts.values()]
    errors = f", {states.count('error')} in error" if "error" in states else ""
    print(f"{states.count('killed')} killed, {states.count('survived')} survived{errors}")
    return 0 if set(states) <= {"killed"} else 1


def _chosen(only: Sequence[str] | None, *, long: bool) -> list[Mutant]:
    if not only:
        return [mutant for mutant in MUTANTS if long or not mutant.long]
    by_name = {mutant.name: mutant for mutant in MUTANTS}
    if unknown := [name for name in only if name not in by_name]:
        sys.exit(f"no mutant is called {', '.join(unknown)}")
    return [by_name[name] for name in only]


def _problems_without(mutants: Sequence[Mutant]) -> list[str]:
    """Run all tests once on the code as it is, by file, each of which must pass."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    files = sorted({test.partition("::")[0] for test in tests})
    shares = [files[number::WORKERS] for number in range(WORKERS)]
    orders = [
        Order(tuple(test for test in tests if test.partition("::")[0] in share))
        for share in shares
        if share
    ]
    return [
        problem
        for order, trial, _ in tried(orders, WORKERS)
        for problem in unsound(trial, order.tests)
    ]


def _verdicts(mutants: Sequence[Mutant]) -> list[tuple[str, Verdict]]:
    found, orders = list[tuple[str, Verdict]](), list[Order]()
    for mutant in mutants:
        try:
            mutant.source()
            orders.append(Order(mutant.tests, mutant))
        except (StaleMutantError, SyntaxError) as error:
            found.append((mutant.name, _told(mutant, Verdict("error", str(error)), 0)))
    for order, trial, seconds in tried(orders, WORKERS):
        if order.mutant:
            verdict = judged(order.mutant, trial)
            found.append((order.mutant.name, _told(order.mutant, verdict, seconds)))
    return found


def _told(mutant: Mutant, verdict: Verdict, seconds: float) -> Verdict:
    print(f"{verdict.state:8} {mutant.name} ({seconds:.1f} s): {mutant.wrong}", flush=True)
    if verdict.why:
        print(f"         {verdict.why}", flush=True)
    return verdict


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
