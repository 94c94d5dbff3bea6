"""Completion of a matrix of people and items from a part of it, by alternating least squares.

Each side has the same number of latent factors. Given one side, the other is a ridge regression per
row; the two alternate. All rows are solved in one batched operation.

[HKV08] Hu, Koren, Volinsky, Collaborative filtering for implicit feedback datasets, ICDM 2008
    (confidence in what was seen, a little in what was not).
"""

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.randomness import stream

Floats = NDArray[np.float64]


def complete(
    values: Floats,
    confidence: Floats,
    factors: int,
    *,
    seed: int,
    ridge: float = 0.1,
    turns: int = 12,
) -> Floats:
    """Return scores of all cells, fitted to `values` weighted by `confidence`; 0 ignores a cell."""
    rng = stream(seed, "factors")
    items = rng.standard_normal((values.shape[1], factors)) / np.sqrt(factors)
    people = np.zeros((values.shape[0], factors))
    for _ in range(turns):
        people = _regress(items, values, confidence, ridge)
        items = _regress(people, values.T, confidence.T, ridge)
    return np.asarray(people @ items.T)


def _regress(known: Floats, values: Floats, confidence: Floats, ridge: float) -> Floats:
    """Return the factors x of each row that minimise Σ_a c_a (v_a - x·y_a)² + ridge |x|²."""
    # x = (Yᵀ C Y + ridge I)⁻¹ Yᵀ C v, one system per row   [HKV08]
    squares = np.einsum("af,ag->afg", known, known).reshape(len(known), -1)
    size = known.shape[1]
    gram = (confidence @ squares).reshape(-1, size, size) + ridge * np.eye(size)
    right = (confidence * values) @ known
    return np.asarray(np.linalg.solve(gram, right[..., None])[..., 0])
