"""Sums of products of two rows, one of them shifted, computed in blocks that fit a cache."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from auditor_client.stats.noise_distributions import Floats, Integers

_BLOCK = 512


def shifted_products(
    masses: Floats, mass: Integers, values: Floats, value: Integers, shift: Integers
) -> Floats:
    """Return Σ_j masses[mass, j] · values[value, shift + j], one for each mass, value and shift."""
    shifted = sliding_window_view(values, masses.shape[1], axis=1)
    found = np.empty(len(mass))
    for start in range(0, len(mass), _BLOCK):
        part = slice(start, start + _BLOCK)
        rows = shifted[value[part], shift[part]]
        found[part] = np.einsum("ij,ij->i", masses[mass[part]], rows)
    return found
