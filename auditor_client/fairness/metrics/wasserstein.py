"""Wasserstein-1 distance: the average distance that scores must move to make two groups equal.

    W1 = ∫ |F_a - F_b| = max over f with slopes of at most one of E f(a) - E f(b)

Scores are placed in the middle of their bins, and people outside all bins in the middle of the
range. The upper limit needs no union over f: W1 is the difference for one f, and its estimate is at
most the largest of all. For the lower limit, a few f fixed in advance share the level: the score
itself (the difference of means) and its distance from three points. The proof is in
docs/explanation/metrics.md.
"""

import math
from dataclasses import dataclass

import numpy as np

from auditor_client.fairness.metrics import means
from auditor_client.fairness.metrics.estimate import Estimate
from auditor_client.fairness.metrics.group_view import GroupView
from auditor_client.stats.chernoff import tilts
from auditor_client.stats.noise import Floats

MEASURE = "Wasserstein distance"
_CENTRES = 9
# Parts of a level: for unknown sizes, and for the spread of scores.
_SIZES = 0.1
_SPREAD = 0.1


@dataclass(frozen=True, slots=True)
class ErrorPart:
    """Part of one group in the error: its weight, and limits of Var(score) and |E f|."""

    side: GroupView
    weight: float
    variance: float
    most: float


def wasserstein(first: GroupView, second: GroupView, delta: float, rounding: float) -> Estimate:
    """Return the distance and its limits, each missed with probability at most delta/2."""
    low, high = _below(first, second, delta / 2), _above(first, second, delta / 2)
    value = transport(first, second, max(_total(first), 1.0), max(_total(second), 1.0))
    names = (first.name, second.name)
    return Estimate(MEASURE, names, value, min(low, high), high, delta, rounding=rounding)


def transport(first: GroupView, second: GroupView, n: float, m: float) -> float:
    """Return the maximum of Σ f·(counts/n - counts/m) over f with slopes of at most one, 0 at the
    centre.
    """
    middles = np.asarray(first.middles)
    unit = np.eye(first.bins)
    apart = first.sums(unit) / n - second.sums(unit) / m
    left, right = np.minimum(middles, first.centre), np.maximum(middles, first.centre)
    below = np.abs(np.cumsum(apart))[:-1] @ np.diff(left)
    above = np.abs(np.cumsum(apart[::-1])[::-1])[1:] @ np.diff(right)
    return float(below + above)


def _below(first: GroupView, second: GroupView, level: float) -> float:
    middles = np.append(first.middles, first.centre)
    points = np.quantile(first.middles, (0.25, 0.5, 0.75))
    functions = [middles, *(np.abs(middles - point) for point in points)]
    found = [means.limits(first, second, f, level / len(functions)) for f in functions]
    return max(0.0, *(max(low, -high) for low, high in found))


def _above(first: GroupView, second: GroupView, level: float) -> float:
    wide = first.middles[-1] - first.middles[0]
    sides = (first, second)
    if any(side.size.tells_nothing(level) for side in sides) or min(map(_total, sides)) <= 1:
        return wide
    size_level, left = level * _SIZES / 4, level * (1 - _SPREAD - _SIZES)
    estimated = "estimated" in (first.size.kind, second.size.kind)
    parts = [
        ErrorPart(
            side,
            1.0 if estimated else 1 / side.size.stated,
            *_spread(side, level * _SPREAD / 2, size_level),
        )
        for side in sides
    ]
    if estimated:
        errors = [_error([part], size_level, left / 2) / _total(part.side) for part in parts]
        return min(transport(first, second, *map(_total, sides)) + sum(errors), wide)
    n, m = first.size.stated, second.size.stated
    # Counts may add up to more or less than n; the effect grows with |E f|.
    ours, theirs = _total(first) / n, _total(second) / m
    off = abs(ours - theirs) * parts[1].most
    error = _error(parts, size_level, left)
    return min((transport(first, second, n, m) + error + off) / ours, wide)


def _total(side: GroupView) -> float:
    """Return the noisy number of people: the sum of all cells."""
    return float(side.sums(np.ones((1, side.bins + 1)))[0])


def _spread(side: GroupView, level: float, size_level: float) -> tuple[float, float]:
    """Return upper limits of the variance of scores and of their mean distance from the centre."""
    middles, people = np.append(side.middles, side.centre), max(side.size.limits(size_level)[0], 1)
    centres = np.linspace(middles.min(), middles.max(), _CENTRES)
    # The variance is at most the mean square distance from any point.
    squares = [_mean_above(side, (middles - c) ** 2, people, level / _CENTRES) for c in centres]
    half = (centres[-1] - centres[0]) / 2
    return min(squares), min(math.sqrt(squares[_CENTRES // 2]), half)


def _mean_above(side: GroupView, g: Floats, people: int, level: float) -> float:
    """Return an upper limit of E g, for g >= 0, missed with probability at most `level`."""
    top = float(g.max())
    s = tilts(side.most_tilt)
    # P(Σ g·C <= c) <= e^{sc} · E e^{-s·noise} · (1 - E g/top · (1 - e^{-s·top}))^n, solved for E g
    scaled = g / top
    room = math.log(level) - side.log_mgf(np.multiply.outer(-s, scaled)) - s * side.sums(scaled)
    mean = -np.expm1(np.minimum(room / people, 0.0)) / -np.expm1(-s)
    return top * min(float(mean.min()), 1.0)


def _error(parts: list[ErrorPart], size_level: float, level: float) -> float:
    """Return a q with P(Σ weight·Σ (E f - f)·count >= q) <= level, for every f."""
    wide = parts[0].side.middles[-1] - parts[0].side.middles[0]
    least = min(part.side.most_tilt / part.weight for part in parts) / wide
    s = np.geomspace(1e-4, 1.0, 400) * min(least, 50 / (wide * max(p.weight for p in parts)))
    logs = np.zeros_like(s)
    for part in parts:
        tilt = s * part.weight
        people = part.side.size.limits(size_level)[1]
        logs += people * _bennett(tilt * wide, part.variance / wide**2)
        logs += part.side.log_mgf_lipschitz(tilt, part.most)
    return float(np.min((logs - math.log(level)) / s))


def _bennett(tilt: Floats, variance: float) -> Floats:
    """Return a bound of log E exp(tilt·X) for X <= 1 of mean 0 and at most this variance."""
    # The distribution on -v and 1 with mean 0 and variance v has the largest value
    # (docs/explanation/metrics.md).
    return np.log((np.exp(-tilt * variance) + variance * np.exp(tilt)) / (1 + variance))
