"""`python -m bench [figure …]`: run all figures, or the ones named, the cheap ones first.

Each figure is published at once. A failed figure is reported, and the others continue.
"""

import sys
import traceback
from collections.abc import Callable, Iterable, Mapping

from rich.console import Console

from bench import (
    appends,
    demographics,
    envy,
    growth,
    harness,
    large_audit,
    ledger,
    logs,
    matching,
    peers,
    planning,
    ray,
    reo,
    small_audits,
    two_party,
    upload,
)
from bench.harness import Figure

FIGURES: Mapping[str, Callable[[], list[Figure]]] = {
    "appends": appends.run,
    "upload": upload.run,
    "matching": matching.run,
    "demographics": demographics.run,
    "planning": planning.run,
    "envy": envy.figures,
    "large-audit": large_audit.run,
    "logs": logs.run,
    "reo": reo.run,
    "ray": ray.run,
    "two-party": two_party.run,
    "small-audits": small_audits.run,
    "peers": peers.run,
    "ledger": ledger.run,
    "growth": growth.run,
}


def main(names: Iterable[str]) -> int:
    """Run the named benches and return the number of failed figures."""
    failed = [name for name in names if not _published(name)]
    if failed:
        Console().print(f"failed: {', '.join(failed)}")
    return len(failed)


def _published(name: str) -> bool:
    try:
        harness.publish(FIGURES[name]())
    except Exception:  # whatever the error is, the other figures are measured
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    asked = sys.argv[1:] or list(FIGURES)
    if unknown := [name for name in asked if name not in FIGURES]:
        sys.exit(f"there is no figure {', '.join(unknown)}; the figures are {', '.join(FIGURES)}")
    sys.exit(1 if main(asked) else 0)
