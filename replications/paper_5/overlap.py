"""Severity rule "all confidence intervals overlap", and its probability of error.

Intervals θ̂_g ± z·s_g overlap in pairs if and only if they have a point in common [Helly, in one
dimension]. If all true values are equal and the estimates are independent and normal,

    P(overlap) = Σ_g ∫ f_g(u) Π_{h≠g} P(|θ̂_h - u| <= z·s_h) du,

where f_g is the density of the upper end of g's interval: u is the smallest upper end, and all
other intervals contain it. For two groups of equal precision at 95 %, the rule errs in .6 % and not
in 5 %, so it misses differences that a test finds; with six groups it errs in 6.2 %. For dependent
estimates, such as those of soft groups, the probability is computed by simulation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from auditor_client.errors import InputError
from auditor_client.stats.noise_distributions import Floats

_POINTS = 2001


@dataclass(frozen=True)
class Overlap:
    """Result of the rule: whether all intervals overlap, the largest distance, and the rule's
    error.

    `error_rate` is the probability of no overlap although all true values are equal.
    """

    overlap: bool
    apart: float
    error_rate: float

    @property
    def severity(self) -> str:
        """The paper's word for it: no significant disparity is low."""
        return "low" if self.overlap else "high"


def overlap(lows: Sequence[float], highs: Sequence[float], confidence: float = 0.95) -> Overlap:
    """Apply the rule to the groups' intervals at this confidence."""
    low, high = np.asarray(lows, np.float64), np.asarray(highs, np.float64)
    if len(low) != len(high) or len(low) < 2 or not (high >= low).all():
        raise InputError("The rule needs the intervals of two groups or more.", case="few-groups")
    apart = float(low.max() - high.min())
    widths = (high - low) / (2 * _z(confidence))
    return Overlap(apart <= 0, max(apart, 0.0), error_rate(widths, confidence))


def error_rate(standard_errors: Floats | Sequence[float], confidence: float = 0.95) -> float:
    """Return P(some intervals do not overlap | all true values equal), for independent
    estimates.
    """
    s, z = np.asarray(standard_errors, np.float64), _z(confidence)
    s = s[s > 0]
    if len(s) < 2:
        return 0.0
    # Points on every group's own scale: one may be known far more precisely than another.
    u = np.unique(np.multiply.outer(s, np.linspace(-1, 1, _POINTS) * (8.0 + z)))
    # P(|θ̂_h - u| <= z s_h), and the density of θ̂_g + z s_g at u
    within = special.ndtr(u / s[:, None] + z) - special.ndtr(u / s[:, None] - z)
    density = stats.norm.pdf(u / s[:, None] - z) / s[:, None]
    others = [np.prod(np.delete(within, g, axis=0), axis=0) for g in range(len(s))]
    inside = np.trapezoid((density * np.array(others)).sum(axis=0), u)
    return float(np.clip(1 - inside, 0.0, 1.0))


def dependent_error_rate(
    covariance: Floats, confidence: float = 0.95, repetitions: int = 100_000, seed: int = 0
) -> float:
    """Return the same by simulation, for estimates with this covariance."""
    errors = np.sqrt(np.diag(covariance)) * _z(confidence)
    drawn = np.random.default_rng(seed).multivariate_normal(
        np.zeros(len(covariance)), covariance, repetitions
    )
    return float(np.mean((drawn - errors).max(axis=1) > (drawn + errors).min(axis=1)))


def _z(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise InputError(f"A confidence lies between 0 and 1: {confidence}.")
    return float(-special.ndtri((1 - confidence) / 2))
