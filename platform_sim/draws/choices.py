"""Draws of one of a few values for each person, with person-dependent probabilities."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Codes = NDArray[np.int8]


def draw(rng: np.random.Generator, weights: Sequence[float], count: int) -> Codes:
    """Return `count` draws with these weights, which need not sum to one."""
    return draw_each(rng, [weights], np.zeros(count, np.int8))


def draw_each(
    rng: np.random.Generator, weights: ArrayLike, rows: Codes | NDArray[np.intp]
) -> Codes:
    """Return one draw per person, with the weights in their row of the table."""
    table = np.cumsum(np.asarray(weights, np.float64), axis=1)
    table /= table[:, -1:]
    chances = rng.random(len(rows))
    codes = np.zeros(len(rows), np.int8)
    for bound in table.T[:-1]:
        codes += chances >= bound[rows]
    return codes
