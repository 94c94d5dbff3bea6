"""Occupations of people, their experience, and so their qualifications.

A professional network: software is the largest trade. Women and men choose trades in different
numbers in every world, a fair one too. Everybody who is qualified for a trade works in it. So,
given the trade, nothing else differs by gender if `correlation` is 0: this is equality of
opportunity with unequal base rates (paper 1, Definition 5.1).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.choices import Codes, draw_each
from platform_sim.draws.randomness import stream
from platform_sim.people.demographics import Demographics

OCCUPATIONS = ("software", "nursing", "sales", "teaching", "accounting", "construction")
QUALIFYING_YEARS = 2.0

_SHARES_BY_GENDER = (
    (0.25, 0.20, 0.16, 0.18, 0.15, 0.06),
    (0.36, 0.07, 0.18, 0.09, 0.12, 0.18),
    (0.32, 0.12, 0.18, 0.16, 0.12, 0.10),
)
_LONGEST_BY_AGE = (5.0, 12.0, 22.0, 34.0, 40.0)
# Share of career years kept after interruptions, by gender, at full correlation.
_YEARS_LOST_BY_GENDER = (0.25, 0.0, 0.1)


@dataclass(frozen=True)
class WorkHistory:
    """Code in OCCUPATIONS and years of experience, per person."""

    occupation: Codes
    years: NDArray[np.float32]

    def qualified(self, occupation: str) -> NDArray[np.bool_]:
        """Tell whether each person has enough experience in the occupation."""
        if occupation not in OCCUPATIONS:
            raise ValueError(f"{occupation!r} is none of {', '.join(OCCUPATIONS)}")
        works_in = self.occupation == OCCUPATIONS.index(occupation)
        qualified: NDArray[np.bool_] = works_in & (self.years >= QUALIFYING_YEARS)
        return qualified


def make_work(seed: int, who: Demographics, correlation: float) -> WorkHistory:
    occupation = draw_each(stream(seed, "occupation"), _SHARES_BY_GENDER, who.gender)
    spent = stream(seed, "years").random(len(who.age), np.float32)
    lost = correlation * np.array(_YEARS_LOST_BY_GENDER, np.float32)[who.gender]
    longest = np.array(_LONGEST_BY_AGE, np.float32)[who.age]
    return WorkHistory(occupation, (longest * spent * (1 - lost)).astype(np.float32))
