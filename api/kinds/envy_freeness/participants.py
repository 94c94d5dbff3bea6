"""Draw of lots: each has one target of an audit of envy, and the people who serve as its arms.

A secret and a person's own number decide their `arms_per_person` different lots, the one of these
that is their home, and their position in each. In every lot the first person at home is the target,
and the next ones, at home or not, are the arms. A lot without a target
or with too few people does not run. A lot depends only on the people in it. Nobody is a target
twice, and targets and arms are uniform samples. docs/explanation/envy.md has the proofs.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Algorithm 2, lines 1 and 3.
[H56] Hoeffding, On the distribution of the number of successes in independent trials, Ann. Math.
    Statist. 27(3), 1956 (lower tails of sums of unequal coins are below the binomial ones).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from api.platforms.interfaces import Persons
from api.platforms.row_sampling import find_runs, sample_below, sample_distinct_below

Indices = NDArray[np.intp]
_POSITIONS = 2**52


@dataclass(frozen=True)
class DrawnLots:
    """Lots that run; `policies[t, k]` is the person whose recommendations target t is shown as arm
    k.

    Arm 0 is their own. `lots` has each row's number, which no other lot changes. `spare` is the
    largest number of arms that may withdraw from a lot that is still certified.
    """

    policies: Persons
    lots: Indices
    spare: int = 0

    @property
    def targets(self) -> Persons:
        return self.policies[:, 0]

    @property
    def arms(self) -> int:
        return int(self.policies.shape[1]) - 1


def draw_lots(
    people: Persons, targets: int, arms: int, arms_per_person: int, secret: int
) -> DrawnLots:
    """Return the target and `arms` arms of each lot that runs; `people` must be distinct."""
    lots, positions = _entries(people, targets, arms_per_person, secret)
    leads = np.zeros(lots.shape, bool)
    leads[_targets(people, lots[:, 0], positions[:, 0]), 0] = True
    person, lot, lead = np.repeat(people, arms_per_person), lots.ravel(), leads.ravel()
    order = np.lexsort((person, positions.ravel(), ~lead, lot))
    start, size = find_runs(lot[order])
    runs = start[(size > arms) & lead[order][start]]
    members = order[runs[:, None] + np.arange(arms + 1)]
    return DrawnLots(person[members], lot[order][runs])


def _entries(people: Persons, lots: int, each: int, secret: int) -> tuple[Indices, Indices]:
    """Return the lots of each person, their home first, and their position in each of them."""
    everywhere = np.full(len(people), 1, np.intp)
    home = sample_below(lots * everywhere, people, 0, secret)
    others = sample_distinct_below((lots - 1) * everywhere, people, each - 1, secret, first_step=1)
    lot = np.column_stack([home, others + (others >= home[:, None])])
    steps = range(each, 2 * each)
    positions = [sample_below(_POSITIONS * everywhere, people, step, secret) for step in steps]
    return lot, np.column_stack(positions)


def _targets(people: Persons, home: Indices, position: Indices) -> Indices:
    """Return the index of the first person at home in each lot that has one."""
    order = np.lexsort((people, position, home))
    start, _ = find_runs(home[order])
    return order[start]


def spare_arms(arms: int, gamma: float, level: float) -> int:
    """Return the largest number of arms that may be missing, no matter which.

    If a share gamma of all others is envied, then with probability 1 - `level` at least one more
    than this number of the target's arms is envied.
    """
    below, mass = 0.0, (1 - gamma) ** arms
    # P(B ≤ s) bounds the draw without replacement up to s = Kγ - 1   [H56]
    for envied in range(1 + max(0, math.floor(arms * gamma - 1))):
        below += mass
        if below > level:
            return max(0, envied - 1)
        mass *= (arms - envied) / (envied + 1) * gamma / (1 - gamma)
    return max(0, math.floor(arms * gamma - 1))
