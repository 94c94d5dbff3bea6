"""`python -m bench.coverage [runs]`: how often the interval of the fairness gap holds the truth.

Every line simulates `runs` audits of one design with delta = .05 and counts how often the truth lay
below the lower and above the upper limit, beside the mean limits. An interval that is right covers
at least 95 % on every line, up to chance; the share expected by chance is on the line before the
last. The last line is the worst coverage.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from auditor_client.gap import fairness_gap
from auditor_client.power import discrete_laplace

DELTA = 0.05
RUNS = 60


@dataclass(frozen=True, slots=True)
class Case:
    """One design: people per group, gap, shape, noise, and what is known of sizes."""

    people: tuple[int, int]
    bins: int
    filled: int
    gap: float
    epsilon: float
    sizes: str

    def shares(self) -> list[NDArray[np.float64]]:
        base = np.zeros(self.bins)
        base[: self.filled] = (1 - self.gap) / self.filled
        one, other = base.copy(), base.copy()
        one[0] += self.gap
        other[-1] += self.gap
        return [one, other]


def cases() -> Iterator[Case]:
    """The grid: each row varies one thing, sizes known, noisy and estimated in turn."""
    kinds = ("known", "noisy", "estimated")
    shapes = [(2, 2), (10, 10), (10, 2), (20, 3), (100, 100), (100, 2)]
    for i, people in enumerate((20, 60, 150, 500, 2000)):
        for j, gap in enumerate((0.0, 0.05, 0.4)):
            bins, filled = shapes[(i + 2 * j) % len(shapes)]
            yield Case((people, people), bins, filled, gap, 1.0, kinds[(i + j) % 3])
    for k, epsilon in enumerate((0.25, 0.5, 4.0)):
        for kind in kinds:
            bins, filled = shapes[(k + 1) % len(shapes)]
            yield Case((200, 200), bins, filled, 0.0, epsilon, kind)
    for kind in kinds:
        yield Case((270, 180), 20, 3, 0.0, 1.0, kind)  # match rates .9 and .6, a fair platform
        yield Case((80, 800), 10, 10, 0.3, 1.0, kind)
        yield Case((300, 300), 2, 2, 0.3, 4.0, kind)


def audit(case: Case, generator: np.random.Generator) -> tuple[float, float]:
    """The limits of one simulated audit."""
    counts = {
        name: [
            int(count)
            for count in generator.multinomial(n, shares)
            + discrete_laplace(generator, case.epsilon, case.bins)
        ]
        for name, n, shares in zip(("g0", "g1"), case.people, case.shares(), strict=True)
    }
    known = dict(zip(("g0", "g1"), case.people, strict=True))
    given: dict[str, Any] = {"sizes": known} if case.sizes == "known" else {}
    if case.sizes == "noisy":
        noises = discrete_laplace(generator, case.epsilon / 4, 2)
        noisy = {name: n + int(z) for (name, n), z in zip(known.items(), noises, strict=True)}
        given = {"noisy_sizes": noisy, "size_epsilon": case.epsilon / 4}
    gap = fairness_gap(counts, epsilon=case.epsilon, delta=DELTA, **given)
    return gap.low, gap.high


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    head = "people     bins filled  gap  eps  sizes      low    high   below  above  coverage"
    print(head)
    worst = 1.0
    for number, case in enumerate(cases()):
        generator = np.random.default_rng((number, runs))
        limits = np.array([audit(case, generator) for _ in range(runs)])
        truth = case.gap
        under = float(np.mean(limits[:, 0] > truth + 1e-12))
        over = float(np.mean(limits[:, 1] < truth - 1e-12))
        worst = min(worst, 1 - under - over)
        low, high = limits.mean(axis=0)
        print(
            f"{case.people[0]:>4} {case.people[1]:>4} {case.bins:>5} {case.filled:>6} "
            f"{case.gap:>5} {case.epsilon:>4} {case.sizes:>10} {low:6.3f} {high:6.3f} "
            f"{under:7.3f}{over:7.3f} {1 - under - over:9.3f}",
            flush=True,
        )
    chance = 1 - stats.binom.ppf(1 - 1e-3, runs, DELTA) / runs
    print(f"{runs} runs each; a right interval shows less than {chance:.3f} once in a thousand")
    print(f"worst coverage: {worst:.4f}")


if __name__ == "__main__":
    main()
