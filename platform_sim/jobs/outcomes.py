"""Outcomes of opportunities: two steps of people, who may have prejudice.

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

# Value of a first step without a second: the paper's α, whose value it does not state.
CREDIT = 0.4


@dataclass(frozen=True)
class Prejudice:
    """Change of each step's log-odds for people with each value; negative numbers make it less
    likely.

    For the candidates of a job, `first` is their own reluctance to apply, and `second` the
    recruiter's prejudice. In a list of members, they are the viewer's reluctance to invite, and
    that of the invited.
    """

    attribute: str = "gender"
    first: Mapping[str, float] = field(default_factory=dict)
    second: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = set(ATTRIBUTES.get(self.attribute, ()))
        if unknown := (self.first.keys() | self.second.keys()) - known:
            raise ValueError(f"{self.attribute} has no value {', '.join(sorted(unknown))}")

    def apply(self, pairs: Pairs, who: Demographics) -> tuple[NDArray[np.float64], ...]:
        """Return the probabilities of the first step, and of the second after the first."""
        codes = who.codes(self.attribute)[pairs.person]
        steps = ((pairs.first, self.first), (pairs.second, self.second))
        return tuple(_chance(odds + self._shifts(by)[codes]) for odds, by in steps)

    def _shifts(self, by: Mapping[str, float]) -> NDArray[np.float64]:
        return np.array([by.get(value, 0.0) for value in ATTRIBUTES[self.attribute]])


def expected_outcomes(chances: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
    """Return E[Y], which nobody on the platform knows."""
    first, second = chances
    return np.asarray(first * (CREDIT * (1 - second) + second))


def realise_outcomes(
    chances: tuple[NDArray[np.float64], ...], seed: int, name: str
) -> NDArray[np.float64]:
    """Return Y: 0, `CREDIT` or 1."""
    rng = stream(seed, f"{name}/outcomes")
    first, second = (rng.random(len(chance)) < chance for chance in chances)
    return np.asarray(first * np.where(second, 1.0, CREDIT))


def _chance(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-log_odds)))
