"""Outcomes of opportunities: two steps that people take, with the prejudice they may have.

[YS22] Yu, Saint-Jacques, §2.2: Y = α·1(first step only) + 1(both steps); §5.1: job seekers may
censor themselves, and recruiters may be biased. Neither is the algorithm's doing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.randomness import stream
from platform_sim.jobs.pairs import Pairs
from platform_sim.people.demographics import ATTRIBUTES, Demographics

# What a first step without a second is worth: the paper's α, which it does not tell.
CREDIT = 0.4


@dataclass(frozen=True)
class Prejudice:
    """By how much, in log-odds, people with each value take or get each step less (negative).

    `first`: of the candidates of a job, their own reluctance to apply. `second`: the recruiter's
    against them. In a list of members, the viewer's in inviting, and what follows.
    """

    attribute: str = "gender"
    first: Mapping[str, float] = field(default_factory=dict)
    second: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = set(ATTRIBUTES.get(self.attribute, ()))
        if unknown := (self.first.keys() | self.second.keys()) - known:
            raise ValueError(f"{self.attribute} has no value {', '.join(sorted(unknown))}")

    def apply(self, pairs: Pairs, who: Demographics) -> tuple[NDArray[np.float64], ...]:
        """Return the probabilities of the first step, and of the second once the first is taken."""
        codes = who.codes(self.attribute)[pairs.person]
        steps = ((pairs.first, self.first), (pairs.second, self.second))
        return tuple(_chance(odds + self._shifts(by)[codes]) for odds, by in steps)

    def _shifts(self, by: Mapping[str, float]) -> NDArray[np.float64]:
        return np.array([by.get(value, 0.0) for value in ATTRIBUTES[self.attribute]])


def expected_outcomes(chances: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
    """E[Y], which nobody on the platform knows."""
    first, second = chances
    return np.asarray(first * (CREDIT * (1 - second) + second))


def realise_outcomes(
    chances: tuple[NDArray[np.float64], ...], seed: int, name: str
) -> NDArray[np.float64]:
    """Y: 0, `CREDIT` or 1."""
    rng = stream(seed, f"{name}/outcomes")
    first, second = (rng.random(len(chance)) < chance for chance in chances)
    return np.asarray(first * np.where(second, 1.0, CREDIT))


def _chance(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-log_odds)))
