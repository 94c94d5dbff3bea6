"""Bandit problems with a known answer: four with ten arms, and draws of rewards of 0 or 1.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §5.2 (Figure 3).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FALLING = 0.7 - 0.7 * (np.arange(10) / 10) ** 0.6

# Means by arm, the baseline first. Only in 2 and 4 is there envy.
PROBLEMS: dict[int, Floats] = {
    1: np.array([0.6] + [0.3] * 9),
    2: np.array([0.3, 0.6] + [0.3] * 8),
    3: _FALLING,
    4: _FALLING[[1, 0, *range(2, 10)]],
}


def equal_arms(means: Floats, rng: np.random.Generator) -> Callable[[Ints, Ints], Floats]:
    """Return rewards of 0 or 1 of targets whose arms have the same means."""

    def rewards(_: Ints, arms: Ints) -> Floats:
        return np.asarray(rng.random(len(arms)) < means[arms], np.float64)

    return rewards


def arms_of_people(utilities: Floats, rng: np.random.Generator) -> Callable[[Ints, Ints], Floats]:
    """Return rewards of 0 or 1 of each person from each person's policy, `utilities[person,
    policy]`.
    """

    def rewards(people: Ints, policies: Ints) -> Floats:
        return np.asarray(rng.random(len(people)) < utilities[people, policies], np.float64)

    return rewards
