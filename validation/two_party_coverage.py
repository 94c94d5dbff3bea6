"""Coverage of limits of soft groups over designs of groups, rates, noise and events.

    python -m validation.two_party_coverage [repetitions]

People have calibrated vectors; outcomes follow their true group. The true value of averages is
known: A·μ, from the moments of the vectors. Noise is the discrete Laplace noise of a release.
"""

import math
import sys
from itertools import product

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from auditor_client import two_party
from auditor_client.stats.noise_distributions import distribution
from auditor_client.two_party import SoftGroupSums
from privacy.metric_values import FalsePositives

SCALE = 1000
GROUPS = (2, 4)
PEOPLE = (150, 1000, 10_000)
BASES = (0.01, 0.1, 0.5)
# Scale of the noise in people.
NOISES = (0.0, 1.0, 10.0)
SHARPNESS = (0.02, 0.5)
DELTA = 0.05


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    table = Table("people", "groups", "vectors", "noise", "base rate", "averages", "differences")
    found = []
    for people, groups, sharp, noise, base in product(PEOPLE, GROUPS, SHARPNESS, NOISES, BASES):
        held = covered(people, groups, sharp, noise, base, repetitions)
        found.append(held)
        vectors = "nearly hard" if sharp < 0.1 else "soft"
        cells = (str(people), str(groups), vectors, f"{noise:g}", f"{base:g}")
        table.add_row(*cells, *(f"{share:.1%}" for share in held))
    Console().print(table)
    for name, shares in zip(("averages", "differences"), np.array(found).T, strict=True):
        print(f"{name}: mean {shares.mean():.1%}, least {shares.min():.1%} of {1 - DELTA:.0%}")


def covered(
    people: int, groups: int, sharp: float, noise: float, base: float, repetitions: int
) -> tuple[float, float]:
    """Return the coverage of averages (all groups) and of differences (of the first two)."""
    rng = np.random.default_rng([people, groups, int(1e3 * sharp), int(noise), int(1e3 * base)])
    truth = base * np.linspace(1.0, 1.8, groups)
    target = _matrix(groups, sharp) @ truth
    rate = math.inf if noise == 0 else 1 / (noise * SCALE)
    averages = differences = 0.0
    for _ in range(repetitions):
        rates = two_party.false_flags(_sums(rng, people, truth, sharp, rate))
        found = rates.averages(DELTA)
        averages += np.mean([a.low <= t <= a.high for a, t in zip(found, target, strict=True)])
        apart = rates.difference(1, 0, DELTA)
        differences += apart.low <= target[1] - target[0] <= apart.high
    return float(averages / repetitions), float(differences / repetitions)


def _sums(
    rng: np.random.Generator, people: int, truth: NDArray[np.float64], sharp: float, rate: float
) -> SoftGroupSums:
    groups, metric = len(truth), FalsePositives()
    vectors = rng.dirichlet(np.full(groups, sharp), people)
    code = (rng.random(people)[:, None] > vectors.cumsum(axis=1)).sum(axis=1)
    flagged = rng.random(people) < truth[np.minimum(code, groups - 1)]
    weights = np.floor(vectors * SCALE + 0.5).astype(np.int64)
    cells = weights.T @ metric.rows(flagged, np.zeros(people, np.bool_))
    noisy = cells + distribution(rate).simulated(rng, cells.size).reshape(cells.shape)
    return SoftGroupSums.of([f"g{n}" for n in range(groups)], metric.layout, noisy, SCALE, rate)


def _matrix(groups: int, sharp: float) -> NDArray[np.float64]:
    """Return a of symmetric Dirichlet vectors: E[p_j p_l] / E[p_j]."""
    total = groups * sharp
    square, product_ = (sharp + 1) / (total + 1), sharp / (total + 1)
    return np.where(np.eye(groups, dtype=bool), square, product_)


if __name__ == "__main__":
    main()
