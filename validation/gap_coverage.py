"""`python -m validation.gap_coverage [runs]`: coverage of intervals.

The fairness gap comes first. Every line simulates `runs` audits of one design with delta = .05 and
counts how often the limits miss the true value: `below` if the lower limit exceeds it, `above` if
it exceeds the upper one. The tests behind the limits are applied to the true value itself; a limit,
found by a search that rounds outwards, misses no more often. Mean limits are over the first ten
audits. The other metrics follow (`metric_coverage`), whose limits are computed in every audit: a
fifth of the runs on each of four platforms, counted together. A right interval covers at least 95 %
on every line, up to chance; the lines before the last state the bound of chance. The last line is
the worst coverage of all.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from auditor_client.fairness import gap_bounds
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import Gaussian, Laplace, Noise
from validation import metric_coverage

DELTA = 0.05
RUNS = 150
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Case:
    """One design: people per group, gap, shape, noise, and known sizes."""

    people: tuple[int, int]
    bins: int
    filled: int
    gap: float
    epsilon: float
    sizes: str
    gaussian: bool = False

    def noise(self, part: float = 1.0) -> Noise:
        """Return the noise at a part of epsilon; Gaussian noise has the variance for rho = ε²/2."""
        rate = self.epsilon * part
        return Gaussian(1 / rate**2) if self.gaussian else Laplace(rate)

    def shares(self) -> list[NDArray[np.float64]]:
        base = np.zeros(self.bins)
        base[: self.filled] = (1 - self.gap) / self.filled
        one, other = base.copy(), base.copy()
        one[0] += self.gap
        other[-1] += self.gap
        return [one, other]


def cases() -> Iterator[Case]:
    """Yield the grid: each row varies one parameter, with sizes known, noisy and estimated in
    turn.
    """
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
        yield Case((150, 150), 20, 3, 0.0, 1.0, kind, gaussian=True)
        yield Case((60, 400), 10, 10, 0.2, 2.0, kind, gaussian=True)
        yield Case((2000, 2000), 100, 2, 0.05, 0.25, kind, gaussian=True)


def audit(case: Case, generator: np.random.Generator) -> list[GroupCounts]:
    """Return the release of one simulated audit."""
    groups = []
    for people, shares in zip(case.people, case.shares(), strict=True):
        counts = generator.multinomial(people, shares)
        noise, own = case.noise(), case.noise(0.25)
        counts = counts + noise.simulated(generator, case.bins)
        bought = people + int(own.simulated(generator, 1)[0])
        table = tuple(int(count) for count in counts)
        size = GroupSizeEstimate(
            sum(table),
            case.bins,
            noise,
            known=people if case.sizes == "known" else None,
            noisy=bought if case.sizes == "noisy" else None,
            noisy_rate=own,
        )
        groups.append(GroupCounts(table, size, noise))
    return groups


def measure(case: Case, runs: int, generator: np.random.Generator) -> tuple[float, ...]:
    """Return mean limits, and the shares of audits that miss below and above."""
    audits = [audit(case, generator) for _ in range(runs)]
    lows = [gap_bounds.lower_limit(groups, DELTA) for groups in audits[:SHOWN]]
    highs = [gap_bounds.upper_limit(groups, DELTA) for groups in audits[:SHOWN]]
    below = sum(gap_bounds.certify_beyond(groups, DELTA, case.gap) for groups in audits)
    # A gap of zero cannot exceed an upper limit.
    above = sum(
        case.gap > 0 and gap_bounds.certify_within(groups, DELTA, case.gap - 1e-12)
        for groups in audits
    )
    return float(np.mean(lows)), float(np.mean(highs)), below / runs, above / runs


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(
        "   people  bins filled   gap  eps    noise      sizes    low   high   below  above  cover"
    )
    worst = 1.0
    for number, case in enumerate(cases()):
        low, high, below, above = measure(case, runs, np.random.default_rng(number))
        worst = min(worst, 1 - below - above)
        print(
            f"{case.people[0]:>4} {case.people[1]:>4} {case.bins:>5} {case.filled:>6} "
            f"{case.gap:>5} {case.epsilon:>4} {'gaussian' if case.gaussian else 'laplace':>8} "
            f"{case.sizes:>10} {low:6.3f} {high:6.3f} {below:7.3f}{above:7.3f} "
            f"{1 - below - above:6.3f}",
            flush=True,
        )
    worst = min(worst, _measures(fewer := max(runs // 5, 5)))
    for number in (runs, fewer * len(metric_coverage.platforms())):
        chance = 1 - stats.binom.ppf(1 - 1e-3, number, DELTA) / number
        print(f"{number} runs: a right interval shows less than {chance:.3f} once in a thousand")
    print(f"worst coverage: {worst:.4f}")


def _measures(runs: int) -> float:
    print("measure people     noise      sizes  width  below  above coverage")
    worst = 1.0
    for line, coverage in metric_coverage.lines(runs, DELTA):
        worst = min(worst, coverage)
        print(line, flush=True)
    return worst


if __name__ == "__main__":
    main()
