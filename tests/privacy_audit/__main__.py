"""Run the privacy audit, or some of its parts; exit with 1 on any violation."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.privacy_audit.all_parts import PARTS, rows_of
from tests.privacy_audit.parts import Outcome


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.privacy_audit", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"default: {', '.join(PARTS)}")
    parser.add_argument("--long", action="store_true", help="full sizes, not those of CI")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.parts if name not in PARTS]:
        parser.error(f"there is no part {', '.join(unknown)}: choose from {', '.join(PARTS)}")
    names = asked.parts or list(PARTS)
    outcomes = list(_one_by_one(names) if asked.long else _in_parallel(names))
    violations = sum(outcome.violations for outcome in outcomes)
    print(f"{'; '.join(map(str, outcomes))}; {violations} violations in all")
    return 1 if violations else 0


def _in_parallel(names: Sequence[str]) -> Iterator[Outcome]:
    """Run the parts at the size of CI at the same time; print each part when it has ended.

    One part leaves processors idle at its end, while another one has work for them.
    """
    with ProcessPoolExecutor(len(names), mp_context=get_context("spawn")) as pool:
        for rows in pool.map(rows_of, names):
            yield _shown(iter(rows))


def _one_by_one(names: Sequence[str]) -> Iterator[Outcome]:
    """Run the parts at full size one after the other: each needs the memory of the machine."""
    return (_shown(PARTS[name](long=True)) for name in names)


def _shown(rows: Iterator[str | Outcome]) -> Outcome:
    """Print the rows of a part as they come, and return its outcome."""
    outcome: Outcome | None = None
    for row in rows:
        outcome = row if isinstance(row, Outcome) else None
        print(row, flush=True)
    if outcome is None:
        raise RuntimeError("a part of the audit ended without an outcome")
    return outcome


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
