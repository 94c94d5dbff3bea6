"""The plain computation that every reading is compared with."""

import numpy as np
from numpy.typing import NDArray

from auditor_client.demographics import Probabilities
from auditor_client.stats.noise_distributions import AnyNoise, distribution
from auditor_client.two_party import SoftGroupSums
from privacy.metric_values import Integers, Layout

SCALE = 1000


def weights_of(probabilities: Probabilities) -> Integers:
    return np.floor(np.asarray(probabilities) * SCALE + 0.5).astype(np.int64)


def sums_of(
    probabilities: Probabilities,
    layout: Layout,
    values: Integers,
    noise: AnyNoise | None = None,
    generator: np.random.Generator | None = None,
    events: int = 1,
) -> SoftGroupSums:
    """weightsᵀ · values in integers, with simulated noise if a law is given."""
    cells = (weights_of(probabilities).T @ values).astype(object)
    if noise is not None and generator is not None:
        cells = cells + distribution(noise).simulated(generator, cells.size).reshape(cells.shape)
    return SoftGroupSums.of(probabilities.columns, layout, cells, SCALE, noise, events)


def soft(
    generator: np.random.Generator, people: int, groups: int, sharpness: float = 0.3
) -> tuple[Probabilities, NDArray[np.intp]]:
    """Calibrated vectors, and the true groups drawn from them."""
    rows = generator.dirichlet(np.full(groups, sharpness), people)
    codes = (generator.random(people)[:, None] > rows.cumsum(axis=1)).sum(axis=1)
    names = [f"g{number}" for number in range(groups)]
    return Probabilities(rows, names), np.minimum(codes, groups - 1)
