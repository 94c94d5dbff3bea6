"""`python -m validation.threshold_errors [runs]`: wrong verdicts and power over all thresholds.

Worlds: linear tilts, a cluster of scores in the middle, and heavy lower tails, whose largest gap
above an edge is alpha itself (so that `unfair` is wrong) or 1.6 alpha (power), with equal and
lopsided groups. delta = .05. Tuning used only the linear tilt with 480 people and the simulated
platform's software ad (20 and 100 bins, seed 1). The last lines name the worst cell with its
standard error.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.fairness.gap import certain_gap
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import Laplace

ALPHA, DELTA, RUNS = 0.2, 0.05, 100
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class World:
    """One design: people per group, bins, shape of the scores, and known sizes."""

    people: tuple[int, int]
    bins: int
    shape: str
    epsilon: float
    sizes: str

    def shares(self, gap: float) -> list[Floats]:
        """Return two groups whose tails differ by exactly `gap` at the joint median."""
        middle = (np.arange(self.bins) + 0.5) / self.bins
        base = {
            "even": np.ones(self.bins),
            "cluster": np.exp(-(((middle - 0.5) / 0.08) ** 2) / 2),
            "tail": (middle + 0.02) ** -1.5,
        }[self.shape]
        base = base / base.sum()
        edge = int(np.searchsorted(np.cumsum(base), 0.5)) + 1
        upper = np.arange(self.bins) >= edge
        above = float(base[upper].sum())
        tilt = np.where(upper, gap / 2 / max(above, 1e-9), -gap / 2 / max(1 - above, 1e-9))
        return [base * (1 + tilt), base * (1 - tilt)]


def worlds() -> Iterator[World]:
    """Yield the grid."""
    for sizes in ("known", "noisy", "estimated"):
        yield World((300, 300), 20, "even", 1.0, sizes)
        yield World((400, 120), 10, "tail", 1.0, sizes)
        yield World((150, 150), 60, "cluster", 2.0, sizes)
        yield World((60, 60), 5, "even", 0.5, sizes)


def release(world: World, gap: float, generator: np.random.Generator) -> list[GroupCounts]:
    """Return one simulated release."""
    groups = []
    noise, own = Laplace(world.epsilon), Laplace(world.epsilon / 4)
    for people, shares in zip(world.people, world.shares(gap), strict=True):
        counts = generator.multinomial(people, shares) + noise.simulated(generator, world.bins)
        table = tuple(int(count) for count in counts)
        bought = people + int(own.simulated(generator, 1)[0])
        known = people if world.sizes == "known" else None
        noisy = bought if world.sizes == "noisy" else None
        size = GroupSizeEstimate(sum(table), world.bins, noise, known, noisy, own)
        groups.append(GroupCounts(table, size, noise))
    return groups


def unfair(world: World, gap: float, runs: int, seed: int) -> float:
    """Return the share of audits that say `unfair`."""
    generator = np.random.default_rng(seed)
    said = [certain_gap(release(world, gap, generator), DELTA) > ALPHA for _ in range(runs)]
    return float(np.mean(said))


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print("   people  bins    shape  eps      sizes  wrong `unfair`  power at 1.6 alpha")
    worst, where = -1.0, ""
    for seed, world in enumerate(worlds()):
        wrong, power = unfair(world, ALPHA, runs, seed), unfair(world, 1.6 * ALPHA, runs, seed)
        line = (
            f"{world.people[0]:>4} {world.people[1]:>4} {world.bins:>5} {world.shape:>8} "
            f"{world.epsilon:>4} {world.sizes:>10}"
        )
        print(f"{line} {wrong:>15.3f} {power:>19.3f}", flush=True)
        worst, where = max((worst, where), (wrong, line))
    error = np.sqrt(max(worst * (1 - worst), DELTA * (1 - DELTA)) / runs)
    print(f"worst: {worst:.3f} (standard error {error:.3f}) of {where.strip()}")


if __name__ == "__main__":
    main()
