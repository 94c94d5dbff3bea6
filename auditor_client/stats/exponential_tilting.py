"""Sums tilted by exp(θ·): their growth, and the largest probability of any of their values.

A tail is P(S >= t) = E exp(θS) · exp(-θt) · Σ_j exp(-θj) P_θ(S = t + j), where P_θ is the tilted
distribution. If no value has a higher probability than Q under it, the sum is at most Q / (1 -
exp(-θ)); and

    Q <= 1/π ∫ |φ(u)| du from 0 to π,

where φ is the characteristic function of P_θ. Here |φ| falls in u, so left end points bound the
integral.
"""

import math

import numpy as np

from auditor_client.stats.noise import Floats

_NODES = 96

# The lowest and the highest share of each box.
Span = tuple[Floats, Floats]


def largest_growth(θ: Floats, p: Span) -> Floats:
    """Return the maximum of log E exp(θ(B - p)) = log(1 + p(e^θ - 1)) - θp, concave in p, B ~ 0 or
    1.
    """
    growth = np.expm1(θ)
    best = np.clip(1 / θ - 1 / growth, p[0][:, None], p[1][:, None])
    return np.asarray(np.log1p(best * growth) - θ * best)


def nodes(deviation: float) -> tuple[Floats, Floats]:
    """Return the points at which φ is computed, as 2(1 - cos u), and the weights of its values in
    Q.
    """
    u = np.concatenate([[0.0], np.geomspace(0.03 / (deviation + 1), math.pi, _NODES)])
    return 2 * (1 - np.cos(u[:-1])), np.diff(u) / math.pi


def log_size_of_people(θ: Floats, p: Span, turn: Floats) -> Floats:
    """Return log |φ(u)| of one tilted person, largest over the span: |φ|² = 1 - 2v(1 - cos u)."""
    variance = np.minimum(_tilted_variance(θ, p[0]), _tilted_variance(θ, p[1]))
    return np.asarray(np.log1p(-np.minimum(variance[:, None] * turn, 1 - 1e-12)) / 2)


def _tilted_variance(θ: Floats, p: Floats) -> Floats:
    share = p * np.exp(θ) / (1 + p * np.expm1(θ))
    return np.asarray(share * (1 - share))


def log_single(logs: Floats, weights: Floats, θ: Floats, step: Floats) -> Floats:
    """Return log min(1, Q / (1 - exp(-θ·step))): the factor by which a tail is below Chernoff's
    bound.
    """
    with np.errstate(divide="ignore"):
        single = np.log(np.exp(logs) @ weights) - np.log(-np.expm1(-θ * step))
    return np.asarray(np.minimum(single, 0.0))
