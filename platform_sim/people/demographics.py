"""Demographics: gender, race or ethnicity, age and politics. The model never sees any of it.

Race and ethnicity in the six categories of BISG (paper 5, §4). All shares are invented.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.choices import Codes, draw, draw_each
from platform_sim.draws.randomness import stream

ATTRIBUTES = {
    "gender": ("woman", "man", "nonbinary"),
    "race": ("white", "black", "hispanic", "api", "aian", "multiple"),
    "age": ("18-24", "25-34", "35-49", "50-64", "65+"),
    "politics": ("left", "centre", "right"),
}
_GENDER = (0.485, 0.495, 0.02)
_RACE = (0.58, 0.13, 0.19, 0.06, 0.01, 0.03)
_AGE = (0.14, 0.26, 0.32, 0.20, 0.08)
_POLITICS = (0.33, 0.34, 0.33)

# Shift to the left (positive) or right of each value, at full correlation.
_LEFT_BY_GENDER = (0.25, -0.25, 0.8)
_LEFT_BY_RACE = (-0.2, 0.7, 0.2, 0.2, 0.2, 0.1)
_LEFT_BY_AGE = (0.4, 0.2, 0.0, -0.2, -0.3)


@dataclass(frozen=True)
class Demographics:
    """One code per person and attribute; `ATTRIBUTES` names the codes."""

    gender: Codes
    race: Codes
    age: Codes
    politics: Codes

    def codes(self, attribute: str) -> Codes:
        if attribute not in ATTRIBUTES:
            raise ValueError(f"{attribute!r} is none of {', '.join(ATTRIBUTES)}")
        codes: Codes = getattr(self, attribute)
        return codes

    def having(self, attribute: str, value: str) -> NDArray[np.bool_]:
        """Tell whether each person has this value."""
        codes = self.codes(attribute)
        if value not in ATTRIBUTES[attribute]:
            raise ValueError(f"{value!r} is none of {', '.join(ATTRIBUTES[attribute])}")
        having: NDArray[np.bool_] = codes == ATTRIBUTES[attribute].index(value)
        return having


def make_demographics(seed: int, people: int, correlation: float) -> Demographics:
    """Return demographics: gender, race and age are independent; politics depends on all three."""
    gender = draw(stream(seed, "gender"), _GENDER, people)
    race = draw(stream(seed, "race"), _RACE, people)
    age = draw(stream(seed, "age"), _AGE, people)
    politics = _politics(seed, correlation, gender, race, age)
    return Demographics(gender, race, age, politics)


def _politics(seed: int, correlation: float, gender: Codes, race: Codes, age: Codes) -> Codes:
    shifts = [
        (_LEFT_BY_GENDER[g] + _LEFT_BY_RACE[r] + _LEFT_BY_AGE[a]) * correlation
        for g in range(len(_GENDER))
        for r in range(len(_RACE))
        for a in range(len(_AGE))
    ]
    left, centre, right = _POLITICS
    weights = [(left * np.exp(s), centre, right * np.exp(-s)) for s in shifts]
    rows = (gender.astype(np.intp) * len(_RACE) + race) * len(_AGE) + age
    return draw_each(stream(seed, "politics"), weights, rows)
