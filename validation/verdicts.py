"""`python -m validation.verdicts [runs]`: error rate of verdicts at an alpha fixed beforehand.

The platforms are the hardest to judge: their gap is alpha itself, so that `unfair` is wrong, or
slightly more, so that `fair` is wrong. delta = .05, and each of the two limits uses all of it
(`gap.FairnessGap.verdict`), so both columns may reach .05, up to chance; the line before the last
states the bound of chance. The last line is the worst of all.
"""

import sys
from collections.abc import Iterator

import numpy as np
from scipy import stats

from auditor_client.fairness import gap_bounds
from validation.gap_coverage import DELTA, Case, audit

RUNS = 400


def cases() -> Iterator[Case]:
    """Yield the cases: few bins with known sizes come closest to their level; the others are
    conservative.
    """
    for kind in ("known", "noisy", "estimated"):
        yield Case((300, 300), 2, 2, 0.2, 4.0, kind)
        yield Case((150, 150), 20, 3, 0.2, 1.0, kind)
        yield Case((80, 400), 10, 10, 0.2, 1.0, kind)
        yield Case((200, 200), 2, 2, 0.1, 2.0, kind, gaussian=True)


def errors(case: Case, runs: int, generator: np.random.Generator) -> tuple[float, float]:
    """Return shares of audits wrongly called fair (with a gap slightly above alpha) and unfair."""
    delta, audits = gap_bounds.one_sided_delta(DELTA), [audit(case, generator) for _ in range(runs)]
    fair = sum(gap_bounds.certify_within(groups, delta, case.gap - 1e-12) for groups in audits)
    unfair = sum(gap_bounds.certify_beyond(groups, delta, case.gap) for groups in audits)
    return fair / runs, unfair / runs


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print("   people  bins  gap  eps    noise      sizes  wrong `fair`  wrong `unfair`")
    worst = 0.0
    for number, case in enumerate(cases()):
        fair, unfair = errors(case, runs, np.random.default_rng(number))
        worst = max(worst, fair, unfair)
        print(
            f"{case.people[0]:>4} {case.people[1]:>4} {case.bins:>5} {case.gap:>4} "
            f"{case.epsilon:>4} {'gaussian' if case.gaussian else 'laplace':>8} {case.sizes:>10} "
            f"{fair:>13.3f} {unfair:>15.3f}",
            flush=True,
        )
    chance = stats.binom.ppf(1 - 1e-3, runs, DELTA) / runs
    print(f"{runs} runs: a right verdict is wrong in more than {chance:.3f} once in a thousand")
    print(f"worst error: {worst:.4f}")


if __name__ == "__main__":
    main()
