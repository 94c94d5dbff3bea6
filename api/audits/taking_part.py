"""Who is a target of an audit of envy, and whose recommendations are their arms.

Shared: targets and the arms of each are drawn from all people, so one person may be an arm of many
targets. In lots: a secret and a person's own number decide in which of as many lots as there are
targets they fall, and at which place in it; the first of a lot is its target and the next ones
are the arms. What happens in a lot depends on the people of that lot and on nobody else, so whoever
comes, goes or changes moves the outcome of one target.

Whoever withdraws is an arm of nobody any more. A target may be without as many arms as the others
still tell enough about; without more, nothing is certified of them (docs/envy.md).

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Algorithm 2, lines 1 and 3.
[H56] Hoeffding, On the distribution of the number of successes in independent trials, Ann. Math.
    Statist. 27(3), 1956 (lower tails of sums of unlike coins are below the binomial ones).
"""

import math
from dataclasses import dataclass

import numpy as np

from api.audits.drawing import below, runs_of
from api.audits.envy.auditing import sample
from api.audits.envy.criteria import Size
from api.platform import Persons

_LOT, _PLACE = 0, 1
_PLACES = 2**52


@dataclass(frozen=True)
class Drawn:
    """`policies[t, k]`: whose recommendations target t is shown as arm k; arm 0 is their own.

    `spare` is how many arms a target may be without, and be certified all the same.
    """

    policies: Persons
    spare: int = 0

    @property
    def targets(self) -> Persons:
        return self.policies[:, 0]

    @property
    def arms(self) -> int:
        return int(self.policies.shape[1]) - 1


def draw_shared(people: Persons, targets: int, arms: int, secret: int) -> Drawn:
    """Uniformly among these distinct people; all of them where there are fewer."""
    if len(people) < 2:
        return Drawn(np.empty((0, 2), np.int64))
    size = Size(min(targets, len(people)), min(arms, len(people) - 1), 0.0)
    chosen, others = sample(size, len(people), np.random.default_rng(secret))
    return Drawn(people[np.column_stack([chosen, others])])


def draw_lots(people: Persons, targets: int, arms: int, secret: int) -> Drawn:
    """One target and so many arms from each of the lots that have enough people."""
    everywhere = np.full(len(people), 1, np.intp)
    lot = below(targets * everywhere, people, _LOT, secret)
    order = np.lexsort((people, below(_PLACES * everywhere, people, _PLACE, secret), lot))
    first, size = runs_of(lot[order])
    full = first[size > arms]
    places = full[:, None] + np.arange(arms + 1)
    return Drawn(people[order][places])


def spare_arms(arms: int, gamma: float, level: float) -> int:
    """How many of these arms may be missing, whoever they are: that more of a target's arms are
    envied, if a share gamma of all others is, fails with probability `level` at most.
    """
    below, mass = 0.0, (1 - gamma) ** arms
    # P(B ≤ s) bounds the draw without replacement up to s = Kγ - 1   [H56]
    for envied in range(1 + max(0, math.floor(arms * gamma - 1))):
        below += mass
        if below > level:
            return max(0, envied - 1)
        mass *= (arms - envied) / (envied + 1) * gamma / (1 - gamma)
    return max(0, math.floor(arms * gamma - 1))
