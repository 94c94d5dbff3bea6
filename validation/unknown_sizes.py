"""`python -m validation.unknown_sizes [runs]`: the width of intervals with private sizes.

Each row compares mean widths for the same releases with those of a noise-aware reference, which has
no proof. The reference uses normal errors, the best weighted size of each group (of its bins' sum
and the bought number), n only in the variance, and the simulated quantile of the largest deviation
over all cells and pairs (max-t). The last column is the width with known sizes over the same
counts. The gap of single bins and that of thresholds are compared in the same way. A ratio of 1.15
is the goal. The first world (epsilon 0.1, 30 % matched) was used for tuning: its first result led
to counts of both sides of an edge. The last line names the worst ratio.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from auditor_client.fairness import gap_bounds, thresholds
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.stats.group_size import PARTS, GroupSizeEstimate
from auditor_client.stats.noise import Laplace, variance

DELTA, RUNS, DRAWS = 0.05, 8, 2_000
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class World:
    """One design: people uploaded per group, their matching, groups, bins and noise."""

    uploaded: int
    matching: float
    groups: int
    bins: int
    epsilon: float
    bought: bool

    def release(self, generator: np.random.Generator) -> list[GroupCounts]:
        """Return one simulated release of a fair platform with scores in a bell."""
        middle = (np.arange(self.bins) + 0.5) / self.bins
        shares = np.exp(-(((middle - 0.45) / 0.2) ** 2) / 2)
        noise, own = Laplace(self.epsilon), Laplace(self.epsilon / 4)
        found = []
        for _ in range(self.groups):
            people = int(generator.binomial(self.uploaded, self.matching))
            counts = generator.multinomial(people, shares / shares.sum())
            table = tuple(int(c) for c in counts + noise.simulated(generator, self.bins))
            number = people + int(own.simulated(generator, 1)[0]) if self.bought else None
            size = GroupSizeEstimate(sum(table), self.bins, noise, None, number, own)
            found.append(GroupCounts(table, size, noise))
        return found


def worlds() -> Iterator[World]:
    """Yield the grid."""
    for epsilon, uploaded in ((0.1, 6_000), (0.5, 1_500), (1.0, 800), (2.0, 600)):
        for matching in (0.3, 0.9):
            yield World(uploaded, matching, 2, 12, epsilon, True)
    yield World(800, 0.6, 2, 60, 1.0, True)
    yield World(800, 0.6, 2, 12, 1.0, False)
    yield World(800, 0.6, 5, 12, 1.0, True)
    yield World(800, 0.6, 10, 12, 1.0, True)


def reference(groups: Sequence[GroupCounts], generator: np.random.Generator) -> tuple[float, float]:
    """Return the widths of the noise-aware reference: of single bins, and of thresholds."""
    bins = len(groups[0].table)
    cells = np.eye(bins)
    tails = np.triu(np.ones((bins, bins)))[1:]
    return _width(groups, cells, generator), _width(groups, tails, generator)


def _width(groups: Sequence[GroupCounts], events: Floats, generator: np.random.Generator) -> float:
    shares, errors = [], []
    for group in groups:
        size, one = group.size, variance(group.rate)
        n = size.estimate
        weight = size.terms[0][2] / PARTS
        share = np.clip(events @ np.asarray(group.table, np.float64) / n, 0, 1)
        own = 0.0 if size.noisy is None else (1 - weight) ** 2 * variance(size.noisy_rate)
        counted = np.maximum(np.asarray(group.table, np.float64), 1e-9)
        sampled = generator.multinomial(round(n), counted / counted.sum(), size=DRAWS)
        noise = generator.normal(0, np.sqrt(one), (DRAWS, events.shape[1]))
        extra = generator.normal(0, np.sqrt(own), DRAWS)
        total = weight * noise.sum(axis=1) + extra
        counts = (sampled + noise) @ events.T
        # C - v·N has mean zero at the true share v: n enters through the variance alone.
        true = np.asarray(sampled.mean(axis=0) / round(n)) @ events.T
        errors.append((counts - true * (round(n) + total)[:, None]) / n)
        shares.append(share)
    apart, deviations = [], []
    for a, b in combinations(range(len(groups)), 2):
        apart.append(shares[a] - shares[b])
        deviations.append(errors[a] - errors[b])
    found, drawn = np.asarray(apart).ravel(), np.concatenate(deviations, axis=1)
    spread = drawn.std(axis=0) + 1e-12
    quantile = np.quantile(np.max(np.abs(drawn) / spread, axis=1), 1 - DELTA)
    high = float(np.max(np.abs(found) + quantile * spread))
    low = max(float(np.max(np.abs(found) - quantile * spread)), 0.0)
    return min(high, 1.0) - low


def widths(groups: Sequence[GroupCounts]) -> tuple[float, float]:
    """Return the widths of the proved intervals: of single bins, and of thresholds."""
    return (
        gap_bounds.upper_limit(groups, DELTA) - gap_bounds.lower_limit(groups, DELTA),
        thresholds.upper_limit(groups, DELTA) - thresholds.lower_limit(groups, DELTA),
    )


def known(group: GroupCounts) -> GroupCounts:
    """Return the same counts, as if the estimate of the size were its exact number."""
    return replace(group, size=replace(group.size, known=round(group.size.estimate), noisy=None))


def measure(world: World, runs: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Return mean widths: proved, of the reference, and with known sizes."""
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(runs):
        groups = world.release(generator)
        exact = widths([known(group) for group in groups])
        rows.append((widths(groups), reference(groups, generator), exact))
    ours, theirs, exact = np.asarray(rows).mean(axis=0)
    return ours, theirs, exact


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print("uploaded matching groups bins  eps bought   bins: width ratio known  thresholds: …")
    worst, where = 0.0, ""
    for seed, world in enumerate(worlds()):
        ours, theirs, exact = measure(world, runs, 1_000 + seed)
        line = (
            f"{world.uploaded:>8} {world.matching:>8} {world.groups:>6} {world.bins:>4}"
            f" {world.epsilon:>4} {'yes' if world.bought else 'no':>6}"
        )
        cells = "".join(
            f"  {width:>10.3f} {width / other:>5.2f} {width / sure:>5.2f}"
            for width, other, sure in zip(ours, theirs, exact, strict=True)
        )
        print(line + cells, flush=True)
        worst, where = max((worst, where), (float((ours / theirs).max()), line.strip()))
    print(f"worst ratio to the reference: {worst:.2f} of {where}")


if __name__ == "__main__":
    main()
