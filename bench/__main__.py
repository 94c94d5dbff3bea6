"""`python -m bench [figure …]`: run all figures, or the ones named."""

import sys

from bench import demographics, envy, harness, large_audit, ledger, logs, planning, reo, two_party

FIGURES = {
    "demographics": demographics.run,
    "envy": envy.figures,
    "large-audit": large_audit.run,
    "ledger": ledger.run,
    "logs": logs.run,
    "planning": planning.run,
    "reo": reo.run,
    "two-party": two_party.run,
}


def main() -> None:
    names = sys.argv[1:] or list(FIGURES)
    harness.publish([figure for name in names for figure in FIGURES[name]()])


if __name__ == "__main__":
    main()
