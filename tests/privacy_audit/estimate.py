"""Lower bounds of epsilon and rho from samples of a statistic on two neighbours.

The first half of the samples chooses how to attack, the second half measures how well it works, so
that each bound is wrong with probability at most `ALARM`, whatever was chosen.

[CP34] Clopper, Pearson, The use of confidence or fiducial limits, Biometrika 26 (1934).
[MP09] Maurer, Pontil, Empirical Bernstein Bounds, COLT 2009, arXiv:0907.3740, Theorem 4.
[DV75] Donsker, Varadhan (1975): KL(P‖Q) ≥ E_P[T] − ln E_Q[exp T] for every T.
[BS16] Bun, Steinke, arXiv:1605.02065: rho-zCDP bounds every Rényi divergence by rho · order, and
       so the Kullback–Leibler divergence, its limit at order 1, by rho.
"""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from privacy.tables.price import Currency

Samples = NDArray[np.float64]
# A bound takes two one-sided intervals; thirty bounds together are wrong with less than 1e-6.
ALARM = 3e-8
Estimator = Callable[[Samples, Samples], float]


def epsilon_at_least(one: Samples, other: Samples) -> float:
    """A lower bound of epsilon: the best event {statistic ≥ t} or {statistic < t} either way."""
    (chosen, measured), (chosen_other, measured_other) = _halves(one), _halves(other)
    cuts = np.unique(np.quantile(np.concatenate([chosen, chosen_other]), np.linspace(0, 1, 400)))
    attacks = []
    for above, swapped in product((True, False), repeat=2):
        pair = (chosen_other, chosen) if swapped else (chosen, chosen_other)
        likely, unlikely = (_hits(samples, cuts, above=above) for samples in pair)
        gains = _log_ratio(likely, unlikely, len(pair[0]), len(pair[1]))
        best = int(np.argmax(gains))
        attacks.append((float(gains[best]), float(cuts[best]), above, swapped))
    _, cut, above, swapped = max(attacks)
    pair = (measured_other, measured) if swapped else (measured, measured_other)
    likely, unlikely = (_hits(samples, np.array([cut]), above=above) for samples in pair)
    return max(0.0, float(_log_ratio(likely, unlikely, len(pair[0]), len(pair[1]))[0]))


def rho_at_least(one: Samples, other: Samples) -> float:
    """A lower bound of rho, by that of the divergence, for log-likelihood ratios as statistic."""
    (chosen, measured), (chosen_other, measured_other) = _halves(one), _halves(other)
    best = max(
        product((0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4), (1, 1.5, 2, 2.5, 3, 4)),
        key=lambda attack: _divergence(chosen, chosen_other, *attack),
    )
    return max(0.0, _divergence(measured, measured_other, *best))


def max_measurable(currency: Currency, runs: int) -> float:
    """Return the largest epsilon that this number of runs can show, for perfectly distinct
    neighbours.
    """
    if currency == "epsilon":
        return epsilon_at_least(np.ones(runs), np.zeros(runs))
    certain = 100.0  # a log-likelihood ratio beyond all that is clipped
    return rho_at_least(np.full(runs, certain), np.full(runs, -certain))


def clopper_pearson(hits: Samples, runs: int, alarm: float) -> tuple[Samples, Samples]:
    """One-sided limits of a probability, each wrong with probability `alarm`.   [CP34]"""
    low = np.where(hits > 0, beta.ppf(alarm, hits, runs - hits + 1), 0.0)
    high = np.where(hits < runs, beta.isf(alarm, hits + 1, runs - hits), 1.0)
    return low, high


def _halves(samples: Samples) -> tuple[Samples, Samples]:
    middle = len(samples) // 2
    return samples[:middle], samples[middle:]


def _hits(samples: Samples, cuts: Samples, *, above: bool) -> Samples:
    below = np.searchsorted(np.sort(samples), cuts).astype(np.float64)
    return len(samples) - below if above else below


def _log_ratio(likely: Samples, unlikely: Samples, runs: int, other_runs: int) -> Samples:
    low, _ = clopper_pearson(likely, runs, ALARM / 2)
    _, high = clopper_pearson(unlikely, other_runs, ALARM / 2)
    with np.errstate(divide="ignore"):
        return np.log(low) - np.log(high)


def _divergence(one: Samples, other: Samples, factor: float, clip: float) -> float:
    under_one = np.clip(factor * one, -clip, clip)
    under_other = np.exp(np.clip(factor * other, -clip, clip))
    mean = float(under_one.mean()) - _bernstein(under_one, 2 * clip)
    exponential = float(under_other.mean()) + _bernstein(under_other, 2 * math.sinh(clip))
    return mean - math.log(exponential)


def _bernstein(values: Samples, width: float) -> float:
    # sqrt(2 V ln(2/δ) / n) + 7 · width · ln(2/δ) / (3 (n − 1))   [MP09, Theorem 4]
    weight = math.log(2 / (ALARM / 2))
    spread = math.sqrt(2 * float(values.var(ddof=1)) * weight / len(values))
    return spread + 7 * width * weight / (3 * (len(values) - 1))
