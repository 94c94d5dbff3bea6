"""Fast limits for the share of one bin from its noisy count, by Chernoff's bound.

They only select shares for an exact test, so fast code matters more than tight limits.
"""

import math
from functools import lru_cache

import numpy as np

from auditor_client.stats import noise
from auditor_client.stats.noise import AnyNoise, Floats


@lru_cache(maxsize=64)
def tilts(most: float) -> Floats:
    """Return values of s > 0 at which exponential bounds are tried, within the limit of the
    noise.
    """
    return np.asarray(np.geomspace(1e-4, min(20.0, 0.98 * most), 100))


def limits(
    values: tuple[int, ...], people: tuple[int, int], rate: AnyNoise, level: float
) -> list[tuple[float, float]]:
    """Return limits of each noisy count's share, each missed with probability at most `level`.

    `people` are limits of the number of people: the lower one gives the upper limit of the share,
    the upper one the lower limit.
    """
    counts = np.asarray(values, dtype=np.float64)
    low = 1.0 - _upper_limits(people[1] - counts, people[1], rate, level)
    high = _upper_limits(counts, people[0], rate, level)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def _upper_limits(counts: Floats, people: int, rate: AnyNoise, level: float) -> Floats:
    s = tilts(noise.distribution(rate).most_tilt)
    # P(C <= c) <= e^{sc} · E e^{-sZ} · (1 - p(1 - e^{-s}))^n for every s > 0, solved for p
    room = (math.log(level) - noise.log_mgf(s, rate) - s * counts[:, None]) / people
    above = -np.expm1(np.minimum(room, 0.0)) / -np.expm1(-s)
    return np.asarray(np.clip(above.min(axis=1), 0.0, 1.0))
