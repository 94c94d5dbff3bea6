"""Limits from counts too small for a normal distribution: for each count, then for the penalty.

All mean counts lie between their limits at once with probability 1 - delta, for any dependence
between counts. The penalty lies between its smallest and largest value over that box.

Claim. For a sum X of independent values in [0, m] with mean μ,
    P(X >= x) and P(X <= x) are at most exp(-(x ln(x/μ) - x + μ)/m)   (x above, below μ).
Proof. E exp(sX_i) <= 1 + E(X_i)(e^{sm} - 1)/m by convexity, so log E exp(sX) <= μ(e^{sm} - 1)/m;
Chernoff's bound at its best s, ln(x/μ)/m, is the claim.                                          ∎
"""

import math
from itertools import product

import numpy as np
from scipy import optimize

from auditor_client.reo.counts import PositiveCounts
from auditor_client.stats.noise import sum_quantile
from auditor_client.stats.noise_distributions import Floats, Noise, NoNoise

# Largest number of groups for which all corners of the box are tried.
_CORNERS = 14

Box = tuple[Floats, Floats]


def utilities_box(
    recommended: PositiveCounts, random: PositiveCounts, rows_per_viewer: int, delta: float
) -> Box:
    """Return limits of U_k up to a common factor; the upper limit is infinite if relevant content
    may be absent.
    """
    level = delta / (4 * len(recommended.groups))
    above, below = (_means(one, rows_per_viewer, level) for one in (recommended, random))
    with np.errstate(divide="ignore", invalid="ignore"):
        return above[0] / below[1], np.where(below[0] > 0, above[1] / below[0], np.inf)


def _means(counts: PositiveCounts, rows_per_viewer: int, level: float) -> Box:
    """Return limits of each mean count, each missed with probability at most `level`."""
    share = 1.0 if isinstance(counts.noise, NoNoise) else 0.5
    off = _noise_limit(counts.noise, level * (1 - share))
    reach = rows_per_viewer * math.log(1 / (level * share))
    lows = [_below(max(x - off, 0.0), reach) for x in counts.positives]
    highs = [_above(max(x + off, 0.0), reach) for x in counts.positives]
    return np.asarray(lows), np.asarray(highs)


def _noise_limit(noise: Noise, level: float) -> float:
    return 0.0 if isinstance(noise, NoNoise) else float(sum_quantile(((1, noise, 1),), level))


def _below(x: float, reach: float) -> float:
    """Return the smallest μ that x leaves possible."""
    if x <= 0:
        return 0.0
    if _distance(x, x * 1e-12) <= reach:
        return 0.0
    return float(optimize.brentq(lambda mu: _distance(x, mu) - reach, x * 1e-12, x))


def _above(x: float, reach: float) -> float:
    """Return the largest μ that x leaves possible."""
    end = x + 2 * reach + math.sqrt(4 * x * reach) + 1
    return float(optimize.brentq(lambda mu: _distance(x, mu) - reach, max(x, 1e-12), end))


def _distance(x: float, mu: float) -> float:
    return (x * math.log(x / mu) if x > 0 else 0.0) - x + mu


def penalty_over(box: Box) -> tuple[float, float]:
    """Return the smallest and the largest std(U)/mean(U) in a box of utilities."""
    return _least(*box), _most(*box)


def relative_over(box: Box) -> Box:
    """Return the smallest and the largest ΔU_k: U_k at one end, all others at the other."""
    low, high = box
    with np.errstate(invalid="ignore", divide="ignore"):
        least = len(low) * low / (low + (high.sum() - high)) - 1
        most = len(low) * high / (high + (low.sum() - low)) - 1
    return (
        np.where(np.isnan(least), -1.0, least),
        np.where(np.isnan(most), len(low) - 1.0, np.minimum(most, len(low) - 1.0)),
    )


def relative_spread(u: Floats) -> Floats:
    """Return std(U)/mean(U) along the last axis; 0 if all are 0."""
    mean = u.mean(axis=-1)
    return np.asarray(np.where(mean > 0, u.std(axis=-1) / np.where(mean > 0, mean, 1.0), 0.0))


def _most(low: Floats, high: Floats) -> float:
    largest = math.sqrt(len(low) - 1)
    if not np.isfinite(high).all() or len(low) > _CORNERS:
        return largest
    # {std <= c·mean} is convex, so the maximum over a box is at a corner.
    corners = np.asarray(list(product(*zip(low, high, strict=True))))
    return float(relative_spread(corners).max())


def _least(low: Floats, high: Floats) -> float:
    # At a given sum, squares are smallest if all utilities are as near to one level as possible.
    if low.max() <= high.min():
        return 0.0
    levels = np.linspace(high.min(), low.max(), 2001)
    for _ in range(2):  # first over all levels, then around the best
        found = relative_spread(np.clip(levels[:, None], low, high))
        best = int(np.argmin(found))
        levels = np.linspace(levels[max(best - 1, 0)], levels[min(best + 1, 2000)], 2001)
    return float(found.min())
