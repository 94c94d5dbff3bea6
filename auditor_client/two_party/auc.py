"""AUC of soft groups: the probability that a positive's score exceeds a negative's, with ties one
half.

    AUC[j] = Σ_{i,l} w_ij w_lj (1{s_i > s_l} + ½ 1{s_i = s_l}) / (Σ_i w_ij Σ_l w_lj)

over positives i and negatives l. Over all pairs it factors into sums by score. So it follows from
positives and negatives by bin (in the service), or by every score (in the library). It equals the
area under the ROC curve by trapezoids from the threshold ∞ on, where both rates are 0; eq. 16 as
printed omits that first trapezoid.

[OHB26] eqs. 14-17.  [DDC88] DeLong, DeLong, Clarke-Pearson, Biometrics 44 (1988) (its variance).
"""

import math

import numpy as np
from scipy import special

from auditor_client.errors import InputError
from auditor_client.stats.critical_values import quantile
from auditor_client.stats.noise_distributions import Floats
from auditor_client.two_party.noisy_sums import SoftGroupSums
from auditor_client.two_party.ratios import Average, Ratios


def roc(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Return false and true positive rates at thresholds from ∞ down, from weights in rising
    bins.
    """
    above = [np.append(0.0, np.cumsum(side[::-1])) for side in (negatives, positives)]
    return above[0] / above[0][-1], above[1] / above[1][-1]


def area(positives: Floats, negatives: Floats) -> float:
    """Return the area under this curve by trapezoids, which is Mann and Whitney's statistic."""
    false, true = roc(positives, negatives)
    return float(np.trapezoid(true, false))


def aucs(sums: SoftGroupSums, delta: float = 0.05) -> list[Average]:
    """Return the AUC of each group, then that of everybody, each with its own limits."""
    if sums.weight_squares is not None:
        raise InputError("An AUC needs weights from 0 to 1. Use posteriors of self-reports.")
    positives, negatives = sums.starting("positive"), sums.starting("negative")
    found = [
        _auc(name, p, n, sums.variance, sums.events, delta)
        for name, p, n in zip(sums.groups, positives, negatives, strict=True)
    ]
    noise = sums.variance * len(sums.groups)
    everybody = positives.sum(axis=0), negatives.sum(axis=0)
    return [*found, _auc("overall", *everybody, noise, sums.events, delta)]


def _auc(
    group: str, positives: Floats, negatives: Floats, noise: float, events: int, delta: float
) -> Average:
    p, n = float(positives.sum()), float(negatives.sum())
    if min(p, n) <= 4 * math.sqrt(len(positives) * noise) or min(p, n) <= 0:
        return Average(group, p + n, math.nan, 0.0, 1.0)
    value = float(np.clip(area(positives, negatives), 0.0, 1.0))
    sampling, of_noise = _variances(positives, negatives, value, noise, events)
    q = quantile(delta / 2, round(of_noise / max(sampling + of_noise, 1e-300), 4))
    half = q * math.sqrt(sampling + of_noise)
    if 2 * half < value * (1 - value):
        low, high = _logit_limits(value, half)
    else:
        low, high = _limits_at_the_ends(
            value, p * n / (p + n), events, q * math.sqrt(of_noise), delta
        )
    return Average(group, p + n, value, low, high)


def _variances(
    positives: Floats, negatives: Floats, value: float, noise: float, events: int
) -> tuple[float, float]:
    """Return an upper bound of the sampling variance, and the variance of the noise."""
    p, n, bins = positives.sum(), negatives.sum(), len(positives)
    # A positive of a bin gains what a negative loses: F(b) = share below + ½ share of the bin
    wins = (np.cumsum(negatives) - negatives / 2) / n - value
    losses = (p - np.cumsum(positives) + positives / 2) / p - value
    slopes = np.concatenate([wins / p, losses / n])
    people = np.maximum(np.concatenate([positives, negatives]), 0.0)
    # Σ w²φ² <= Σ w φ² for weights up to one [DDC88], times the events a person may have
    sampling = events * float(people @ slopes**2)
    sampling += events * (1 / p**2 + 1 / n**2) / 4  # add one person on either side, with half a win
    first = noise * float(slopes @ slopes)
    # The products of two noises: in the area, and in the product of both totals
    second = noise**2 * (bins * (bins - 1) / 2 + bins / 4 + bins**2) / (p * n) ** 2
    return sampling, first + 2 * float(second)


def _logit_limits(value: float, half: float) -> tuple[float, float]:
    """Return limits on the scale of log-odds, which keeps them within (0, 1)."""
    centre, width = float(special.logit(value)), half / (value * (1 - value))
    return float(special.expit(centre - width)), float(special.expit(centre + width))


def _limits_at_the_ends(
    value: float, people: float, events: int, noise: float, delta: float
) -> tuple[float, float]:
    """Return Wilson's limits, from a bound of the variance: θ(1 - θ)(1/P + 1/N), because F(b) is in
    [0, 1].
    """
    above, below = np.array([value * people]), np.array([people])
    found = Ratios(("",), above, below, rows=events, two_valued=True).average(0, delta)
    return max(found.low - noise, 0.0), min(found.high + noise, 1.0)
