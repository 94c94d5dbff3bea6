"""How often audits of a given size reach a verdict, by seeded simulation.

The platform simulated is the hardest fair one we know for a verdict: its scores fall evenly in
three bins. (Two bins have more sampling error each but fewer chances to err; many bins have little
error each. docs/intervals.md has the numbers.) A gap g moves that share of one group to the first
bin and of all others to the second. Seeds are fixed: the same question has the same answer.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auditor_client import bounds
from auditor_client.contrasts import Group
from auditor_client.sizes import GroupSize

SizeKind = Literal["known", "noisy", "estimated"]
Outcome = Literal["fair", "unfair"]
RUNS = 100
_FILLED = 3


@dataclass(frozen=True, slots=True)
class Design:
    """An audit to rehearse: all but the number of people."""

    alpha: float
    delta: float
    groups: int
    bins: int
    rate: float
    sizes: SizeKind
    size_rate: float

    @property
    def pairs(self) -> int:
        return self.groups * (self.groups - 1) // 2

    @property
    def exact(self) -> bool:
        """Whether sizes are known; without noise the bins' sum tells them."""
        return self.sizes == "known" or math.isinf(self.rate)

    def shares(self, gap: float) -> NDArray[np.float64]:
        """One row of shares per group, with a fairness gap of exactly `gap`."""
        filled = min(_FILLED, self.bins)
        base = np.zeros((self.groups, self.bins))
        base[:, :filled] = (1 - gap) / filled
        base[0, 0] += gap
        base[1:, 1 % self.bins] += gap
        return base


@lru_cache(maxsize=512)
def reaches(
    design: Design, people: int, gap: float, verdict: Outcome, power: float
) -> bool:
    """Whether at least a share `power` of simulated audits ends in the verdict."""
    ask = bounds.within if verdict == "fair" else bounds.beyond
    failures = 0
    for seed in range(RUNS):
        failures += not ask(_audit(design, people, gap, seed), design.delta, design.alpha)
        if failures > RUNS * (1 - power):
            return False
    return True


def _audit(design: Design, people: int, gap: float, seed: int) -> list[Group]:
    generator = np.random.default_rng((seed, people))
    groups = []
    for shares in design.shares(gap):
        counts = generator.multinomial(people, shares) + discrete_laplace(
            generator, design.rate, design.bins
        )
        known = people if design.exact else None
        noisy = None
        if design.sizes == "noisy" and not design.exact:
            noisy = people + int(discrete_laplace(generator, design.size_rate, 1)[0])
        table = tuple(int(count) for count in counts)
        size = GroupSize(sum(table), len(table), design.rate, known, noisy, design.size_rate)
        groups.append(Group(table, size, design.rate))
    return groups


def discrete_laplace(generator: np.random.Generator, rate: float, count: int) -> NDArray[np.int64]:
    """Simulated noise, never for release: the difference of two geometric variables."""
    if math.isinf(rate):
        return np.zeros(count, dtype=np.int64)
    hit = -math.expm1(-rate)
    return generator.geometric(hit, count) - generator.geometric(hit, count)
