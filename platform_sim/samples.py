"""People whom the platform can sample for an auditor: those who declared an attribute.

In addition to the attributes themselves, gender is offered among the people qualified for each
occupation, for example `gender_software`: audits of opportunity are about the qualified.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.randomness import draw_uniform
from platform_sim.people.demographics import ATTRIBUTES
from platform_sim.people.occupations import OCCUPATIONS
from platform_sim.world import World

_DECLARED = 0.75
_AMONG_QUALIFIED = {f"gender_{occupation}": occupation for occupation in OCCUPATIONS}


def offers(world: World) -> Mapping[str, Mapping[str, int]]:
    """Return half of the real number, rounded down to one digit and zeros, so that no live count
    shows.
    """
    everything: dict[str, dict[str, int]] = {}
    for attribute in (*ATTRIBUTES, *_AMONG_QUALIFIED):
        values = ATTRIBUTES["gender" if attribute in _AMONG_QUALIFIED else attribute]
        figures = {
            value: _rounded(len(list_declared_people(world, attribute, value))) for value in values
        }
        everything[attribute] = {value: figure for value, figure in figures.items() if figure}
    return everything


def draw_sample(
    world: World, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    """Draw for each value the given number of distinct people who declared it, uniformly."""
    return {
        value: rng.choice(list_declared_people(world, attribute, value), size, replace=False)
        for value, size in sizes.items()
    }


def list_declared_people(world: World, attribute: str, value: str) -> NDArray[np.int64]:
    """Return the people who declared this value to the platform."""
    occupation = _AMONG_QUALIFIED.get(attribute)
    own = "gender" if occupation else attribute
    told = draw_uniform(world.seed, f"declared/{own}", np.arange(world.people)) < _DECLARED
    who = told & world.demographics.having(own, value)
    return np.flatnonzero(who & world.qualified(occupation) if occupation else who)


def _rounded(count: int) -> int:
    half = count // 2
    unit: int = 10 ** max(len(str(half)) - 1, 1)
    return half // unit * unit
