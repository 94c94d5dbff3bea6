"""`python -m bench [figure …]`: run all figures, or the ones named."""

import sys

from bench import (
    appends,
    demographics,
    envy,
    growth,
    harness,
    large_audit,
    ledger,
    logs,
    peers,
    planning,
    ray,
    reo,
    small_audits,
    two_party,
    upload,
)

FIGURES = {
    "appends": appends.run,
    "demographics": demographics.run,
    "envy": envy.figures,
    "growth": growth.run,
    "large-audit": large_audit.run,
    "ledger": ledger.run,
    "logs": logs.run,
    "peers": peers.run,
    "planning": planning.run,
    "ray": ray.run,
    "reo": reo.run,
    "small-audits": small_audits.run,
    "two-party": two_party.run,
    "upload": upload.run,
}


def main() -> None:
    names = sys.argv[1:] or list(FIGURES)
    harness.publish([figure for name in names for figure in FIGURES[name]()])


if __name__ == "__main__":
    main()
