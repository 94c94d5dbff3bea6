"""Difference of two means, by betting on people whose scores arrive with noise.

For a person with value Y, 1 - t·(Y - u) has a mean of at most 1 if the group's mean is at least u.
So does the product over all people. Its logarithm is a sum over bins of counts times log(1 - t·(y -
u)), so noise on the counts adds a factor whose mean is known. By Markov's inequality, the product
exceeds 1/level with probability at most `level`. The number of people need not be known. The proof,
and the grid of means that makes it a limit, are in docs/explanation/metrics.md.

[WR24] Waudby-Smith, Ramdas, Estimating means of bounded random variables by betting, JRSS B 86,
       2024 (the idea of betting against a mean).
"""

import math

import numpy as np

from auditor_client.fairness.metrics.estimate import Estimate
from auditor_client.fairness.metrics.group_view import GroupView
from auditor_client.stats.noise import Floats

MEASURE = "difference of mean scores"
_GRID = 500
# Standard deviations of scores, as parts of the range, for which stakes are set.
_SPREADS = (0.5, 0.25, 0.125)
# Stakes on each person for groups of unknown size, as parts of the range.
_STAKES = (0.5, 0.25, 0.12, 0.06)
_ALONE = 0.05
_MOST = 0.9

# Weight in the mixture, stake on the first group, stake on the second.
Stake = tuple[float, float, float]


def mean_difference(first: GroupView, second: GroupView, delta: float, rounding: float) -> Estimate:
    """Return the mean score of the first group minus that of the second, of people inside the
    bins.
    """
    f = np.asarray(first.middles)
    low, high = limits(first, second, f, delta)
    value = _mean(first, f) - _mean(second, f)
    names = (first.name, second.name)
    return Estimate(MEASURE, names, value, low, high, delta, rounding=rounding)


def limits(first: GroupView, second: GroupView, f: Floats, delta: float) -> tuple[float, float]:
    """Return limits of E f(first) - E f(second), each missed with probability at most delta/2."""
    wide = float(f.max() - f.min())
    if wide == 0:
        return 0.0, 0.0
    high = _above(first, second, f, delta / 2)
    low = -_above(second, first, f, delta / 2)
    return (low, high) if low <= high else (-wide, wide)


def _mean(side: GroupView, f: Floats) -> float:
    return float(side.sums(f[None, :])[0]) / max(side.inside(), 1.0)


def _above(first: GroupView, second: GroupView, f: Floats, level: float) -> float:
    grid = np.linspace(f.min(), f.max(), _GRID + 1)
    stakes = _stakes(first, second, f, level)
    # Cell i of the first mean is tested at its lower end, cell k of the second at its upper end: a
    # test there holds for all larger means of the first and all smaller means of the second.
    ours = [weight * _bet(first, grid[:-1, None] - f, one) for weight, one, _ in stakes]
    theirs = [_bet(second, f - grid[1:, None], other) for _, _, other in stakes]
    plausible = np.transpose(ours) @ np.asarray(theirs) < 1 / level
    apart = grid[1:, None] - grid[None, :-1]
    return float(apart[plausible].max()) if plausible.any() else float(grid[0] - grid[-1])


def _bet(side: GroupView, gains: Floats, stake: float) -> Floats:
    """Return the capital after betting `1 + stake·gain` per person, corrected for the noise.

    The capital is divided by a bound of the noise factor's mean, so that its mean is at most 1.
    """
    worst = np.maximum(-gains.min(axis=1), 1e-300)
    # The stake is limited: no factor reaches 0, and the noise's moments are finite.
    most = min(_MOST, -math.expm1(-_MOST * min(side.most_tilt, 50.0)))
    coefficients = np.log1p(np.minimum(stake, most / worst)[:, None] * gains)
    # Clip, so that products stay finite: less evidence is on the safe side.
    return np.exp(np.minimum(side.sums(coefficients) - side.log_mgf(coefficients), 300.0))


def _stakes(first: GroupView, second: GroupView, f: Floats, level: float) -> list[Stake]:
    """Return bets whose weights add up to one, with the stakes per person and unit of f.

    They may depend on known or separately bought sizes. A small part is bet on each group alone, so
    that two means that are both far off cannot hide behind their difference.
    """
    wide = float(f.max() - f.min())
    if "estimated" in (first.size.kind, second.size.kind):
        return [(1 / 16, one / wide, other / wide) for one in _STAKES for other in _STAKES]
    n, m = first.size.stated, second.size.stated
    noises = _noise(first, f) / n**2 + _noise(second, f) / m**2
    found = []
    for spread in _SPREADS:
        total = (spread * wide) ** 2 * (1 / n + 1 / m) + noises
        # exp(s·h - s²V/2) at its best s, for an h that just reaches the level
        s = math.sqrt(-2 * math.log(level) / total)
        found.append(((1 - 2 * _ALONE) / len(_SPREADS), s / n, s / m))
    _, one, other = found[1]
    return [*found, (_ALONE, one, 0.0), (_ALONE, 0.0, other)]


def _noise(side: GroupView, f: Floats) -> float:
    """Return the variance of the noise in Σ (f - middle)·count, from its second derivative."""
    tiny = 1e-3 * min(side.most_tilt, 1.0) / float(np.abs(f).max() + f.max() - f.min())
    centred = tiny * (f - (f.max() + f.min()) / 2)
    return 2 * float(side.log_mgf(centred[None, :])[0]) / tiny**2
