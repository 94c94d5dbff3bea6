"""Can two releases be of the same counts? What differs is then noise alone, whose law is known.

Each cell has an exact p-value, that so large a difference of two noises occurs. Cells are
independent, so p-values combine in two ways that share the error equally: the smallest of them
(one cell that is far off) and Fisher's sum of logarithms (many that are a little off). Noise that
is too small counts as well: a service that recognises a question and repeats its answer adds none.

[F32] Fisher, Statistical Methods for Research Workers, 4th ed., 1932, §21.1: under the null
      -2 Σ log p follows chi-squared with 2m degrees of freedom. P-values of discrete variables
      are stochastically larger than uniform ones, hence the sum is smaller and the test safe.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from auditor_client.noise import Floats, Noise, law

_LEAST = 1e-300


@dataclass(frozen=True, slots=True)
class Cell:
    """Two noisy numbers that would be equal without noise, and the law of their difference."""

    name: str
    first: int
    second: int
    noise: Noise


@dataclass(frozen=True, slots=True)
class SameCounts:
    """P-values: that they differ so much, that they differ so little; and the cell most off."""

    differ: float
    alike: float
    worst: str


def same_counts(cells: Sequence[Cell]) -> SameCounts:
    """The exact test over all cells."""
    far, near = p_values(cells)
    smallest = float(far.min())
    # P(min p <= x) <= 1 - (1 - x)^m for independent p-values
    single = -np.expm1(len(cells) * np.log1p(-min(smallest, 1 - 1e-16)))
    differ = min(1.0, 2 * min(float(single), _fisher(far)))
    return SameCounts(differ, _fisher(near), cells[int(np.argmin(far))].name)


def p_values(cells: Sequence[Cell]) -> tuple[Floats, Floats]:
    """P(|D| >= observed) and P(|D| <= observed) of each cell."""
    far, near = np.ones(len(cells)), np.ones(len(cells))
    for number, cell in enumerate(cells):
        size = abs(cell.first - cell.second)
        above, beyond = 2 * law(cell.noise).tail(np.array([size, size + 1]))
        far[number] = min(above, 1.0) if size else 1.0
        # `tail` errs upwards by a little; give it back, so that this errs upwards as well.
        near[number] = min(1 - beyond + 1e-10, 1.0)
    return np.maximum(far, _LEAST), np.maximum(near, _LEAST)


def _fisher(found: Floats) -> float:
    # P(chi-squared with 2m degrees of freedom >= -2 Σ log p) = Q(m, -Σ log p)   [F32]
    return float(special.gammaincc(len(found), -np.log(found).sum()))
