"""Run the privacy audit, or some of its parts; exit with 1 on any violation."""

import argparse
import sys
from collections.abc import Mapping

from tests.privacy_audit import statistical
from tests.privacy_audit.parts import Outcome, Part
from tests.privacy_audit.sensitivity import everything as sensitivity
from tests.privacy_audit.states import everything as states

# In the order in which they run. A part is added here, and nowhere else.
PARTS: Mapping[str, Part] = {
    "sensitivity": sensitivity.run,
    "states": states.run,
    "statistics": statistical.run,
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.privacy_audit", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"default: {', '.join(PARTS)}")
    parser.add_argument("--long", action="store_true", help="full sizes, not those of CI")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.parts if name not in PARTS]:
        parser.error(f"there is no part {', '.join(unknown)}: choose from {', '.join(PARTS)}")
    outcomes = [_shown(PARTS[name], long=asked.long) for name in asked.parts or PARTS]
    violations = sum(outcome.violations for outcome in outcomes)
    print(f"{'; '.join(map(str, outcomes))}; {violations} violations in all")
    return 1 if violations else 0


def _shown(part: Part, *, long: bool) -> Outcome:
    """Print the rows of a part as they come, and return its outcome."""
    outcome: Outcome | None = None
    for row in part(long=long):
        outcome = row if isinstance(row, Outcome) else None
        print(row, flush=True)
    if outcome is None:
        raise RuntimeError("a part of the audit ended without an outcome")
    return outcome


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
