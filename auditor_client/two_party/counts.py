"""Representation of a group: the number of its members in a pool, from soft labels.

[OHB26] eq. 19: N_j is Poisson-binomial, a sum of independent indicators with probabilities p_ij.
"""

import math

import numpy as np

from auditor_client.errors import InputError
from auditor_client.stats.noise_distributions import Floats


def at_least(probabilities: Floats, threshold: int = 1) -> float:
    """Return P(N >= threshold) for people who belong to the group with these probabilities."""
    p = np.asarray(probabilities, np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError(
            "Give one probability, from 0 to 1, for each person of the pool.",
            case="probability-per-person",
        )
    if threshold <= 0:
        return 1.0
    if threshold == 1:
        # 1 - Π(1 - p)   [OHB26, eq. 19]
        with np.errstate(divide="ignore"):
            return float(-math.expm1(float(np.log1p(-p).sum())))
    return float(np.clip(1 - _probability_below(p, threshold).sum(), 0.0, 1.0))


def _probability_below(p: Floats, threshold: int) -> Floats:
    """Return P(N = 0), …, P(N = threshold - 1), computed person by person."""
    masses = np.zeros(threshold)
    masses[0] = 1.0
    for one in p[p > 0]:
        masses[1:] = masses[1:] * (1 - one) + masses[:-1] * one
        masses[0] *= 1 - one
    return masses
