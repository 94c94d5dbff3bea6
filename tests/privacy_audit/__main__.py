"""Prints claimed and measured loss per mechanism and relation; fails on any violation."""

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat

from tests.privacy_audit.cases import cases
from tests.privacy_audit.estimate import epsilon_at_least, rho_at_least
from tests.privacy_audit.runs import Case, claimed, statistics

RUNS = 20_000
LONG_RUNS = 200_000


@dataclass(frozen=True)
class Finding:
    """What one look at one mechanism under one relation came to."""

    mechanism: str
    relation: str
    currency: str
    claimed: float
    measured: float

    @property
    def violated(self) -> bool:
        return self.measured > self.claimed


def audit(case: Case, runs: int) -> list[Finding]:
    at_least = epsilon_at_least if case.currency == "epsilon" else rho_at_least
    return [
        Finding(case.name + look, case.relation, case.currency, claimed(case), at_least(one, other))
        for look, (one, other) in statistics(case, int(runs * case.share)).items()
    ]


def row(finding: Finding) -> str:
    verdict = "VIOLATED" if finding.violated else "holds"
    amounts = f"{finding.claimed:8.3f}  {finding.measured:8.3f}"
    return f"{finding.mechanism:38} {finding.relation:11} {finding.currency:8} {amounts}  {verdict}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.privacy_audit", description=__doc__)
    parser.add_argument("--long", action="store_true", help=f"{LONG_RUNS} runs, not {RUNS}")
    runs = LONG_RUNS if parser.parse_args(arguments).long else RUNS
    print(f"{'mechanism':38} {'relation':11} {'currency':8}  claimed  at least  verdict")
    findings = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(audit, cases(), repeat(runs)):
            findings += found
            for finding in found:
                print(row(finding), flush=True)
    violations = sum(finding.violated for finding in findings)
    print(f"{len(findings)} mechanisms and relations audited, {violations} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
