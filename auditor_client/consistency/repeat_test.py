"""Test whether two releases have the same true counts, so that only noise of a known law differs.

Each cell has an exact p-value: the probability that two noises differ at least this much. Cells are
independent, so p-values combine in two ways that share the error equally: the smallest of them (one
cell far off) and Fisher's sum of logarithms (many cells a little off). Numbers that are equal too
often also count: a service that recognises a request and repeats its answer adds no noise. The
number of equal cells has an exact law too.

[F32] Fisher, Statistical Methods for Research Workers, 4th ed., 1932, §21.1: under the null
      -2 Σ log p follows chi-squared with 2m degrees of freedom. P-values of discrete variables
      are stochastically larger than uniform ones, hence the sum is smaller and the test safe.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from auditor_client.stats.noise import Floats, Noise

_LEAST = 1e-300


@dataclass(frozen=True, slots=True)
class Cell:
    """Two noisy numbers that are equal without noise, and the law of their difference."""

    name: str
    first: int
    second: int
    noise: Noise


@dataclass(frozen=True, slots=True)
class SameCounts:
    """P-values for too large and for too small differences, and the cell with the largest
    difference.
    """

    differ: float
    alike: float
    worst: str


def same_counts(cells: Sequence[Cell]) -> SameCounts:
    """Return the exact test over all cells."""
    far = p_values(cells)
    smallest = float(far.min())
    # P(min p <= x) <= 1 - (1 - x)^m for independent p-values
    single = -np.expm1(len(cells) * np.log1p(-min(smallest, 1 - 1e-16)))
    differ = min(1.0, 2 * min(float(single), _fisher(far)))
    return SameCounts(differ, _equal(cells), cells[int(np.argmin(far))].name)


def p_values(cells: Sequence[Cell]) -> Floats:
    """Return P(|D| >= observed) of each cell."""
    sizes = [abs(cell.first - cell.second) for cell in cells]
    tails = [float(cell.noise.tail(np.array([k]))[0]) for cell, k in zip(cells, sizes, strict=True)]
    found = [min(2 * tail, 1.0) if k else 1.0 for tail, k in zip(tails, sizes, strict=True)]
    return np.maximum(found, _LEAST)


def _equal(cells: Sequence[Cell]) -> float:
    """Return P(at least the observed number of cells are equal), from the probability of each."""
    law = np.ones(1)
    for cell in cells:
        chance = min(float(cell.noise.mass(np.zeros(1, np.int64))[0]) + 1e-10, 1.0)
        law = np.convolve(law, [1 - chance, chance])
    equal = sum(cell.first == cell.second for cell in cells)
    return min(float(law[equal:].sum()) + 1e-15, 1.0)


def _fisher(found: Floats) -> float:
    # P(chi-squared with 2m degrees of freedom >= -2 Σ log p) = Q(m, -Σ log p)   [F32]
    return float(special.gammaincc(len(found), -np.log(found).sum()))
