"""The statistical audit: claimed and measured loss per mechanism and relation."""

import gc
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat

from tests.privacy_audit import served
from tests.privacy_audit.cases import cases
from tests.privacy_audit.estimate import epsilon_at_least, rho_at_least
from tests.privacy_audit.parts import Outcome
from tests.privacy_audit.runs import Case, claimed, statistics

RUNS = 20_000
LONG_RUNS = 200_000


@dataclass(frozen=True)
class Finding:
    """The result of one look at one mechanism under one relation."""

    mechanism: str
    relation: str
    currency: str
    claimed: float
    measured: float

    @property
    def violated(self) -> bool:
        return self.measured > self.claimed


def runs_of(case: Case, runs: int) -> int:
    """Return the number of runs that a case takes of the given number."""
    return int(runs * case.share)


def audit(case: Case, runs: int) -> list[Finding]:
    """Measure one case with this number of runs, or its share of them."""
    at_least = epsilon_at_least if case.currency == "epsilon" else rho_at_least
    runs = runs_of(case, runs)
    # Through the service the claim is what was spent, which is known afterwards.
    looks, claim = (
        served.statistics(runs) if case.served else (statistics(case, runs), claimed(case))
    )
    return [
        Finding(case.name + look, case.relation, case.currency, claim, at_least(one, other))
        for look, (one, other) in looks.items()
    ]


def run(*, long: bool) -> Iterator[str | Outcome]:
    """Audit all cases; yield a row for each finding, then the outcome."""
    yield f"{'mechanism':44} {'relation':11} {'currency':8}  claimed  at least  verdict"
    findings: list[Finding] = []
    with ProcessPoolExecutor(os.cpu_count(), initializer=gc.freeze) as pool:
        for found in pool.map(audit, cases(), repeat(LONG_RUNS if long else RUNS)):
            findings += found
            yield from map(_row, found)
    violations = sum(finding.violated for finding in findings)
    yield Outcome(f"statistics: {len(findings)} mechanisms and relations audited", violations)


def _row(finding: Finding) -> str:
    verdict = "VIOLATED" if finding.violated else "holds"
    amounts = f"{finding.claimed:8.3f}  {finding.measured:8.3f}"
    return f"{finding.mechanism:44} {finding.relation:11} {finding.currency:8} {amounts}  {verdict}"
