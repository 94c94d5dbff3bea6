"""Relative entropies of coins: the expected gain of the best bets on rewards of 0 or 1."""

import numpy as np
from scipy import special

from auditor_client.stats.noise_distributions import Floats

_HALVINGS = 18
_EDGE = 1e-9


def entropy(p: Floats, q: Floats) -> Floats:
    """Return kl(p, q) = p ln(p/q) + (1 - p) ln((1 - p)/(1 - q))."""
    inside = np.clip(q, _EDGE, 1 - _EDGE)
    return np.asarray(special.rel_entr(p, inside) + special.rel_entr(1 - p, 1 - inside))


def least_divergence(
    arm: Floats, bar: Floats, margin: float, pulls: Floats, home: Floats
) -> Floats:
    """Return the least N_k kl(μ_k, b) + N_0 kl(μ_0, b - margin) over b between μ_k and bar = μ_0 +
    margin.

    Both terms are convex in b: they meet where their slopes cancel.
    """
    own = bar - margin
    near, far = np.broadcast_arrays(arm, bar)
    for _ in range(_HALVINGS):
        b = (near + far) / 2
        # The slope of N kl(p, q) in q is N (q - p)/(q (1 - q)).
        slope = _slope(pulls, arm, b) + _slope(home, own, b - margin)
        toward_arm = np.where(arm < bar, slope > 0, slope < 0)
        near, far = np.where(toward_arm, near, b), np.where(toward_arm, b, far)
    b = (near + far) / 2
    return np.asarray(pulls * entropy(arm, b) + home * entropy(own, np.maximum(b - margin, 0.0)))


def _slope(n: Floats, p: Floats, q: Floats) -> Floats:
    inside = np.clip(q, _EDGE, 1 - _EDGE)
    return np.asarray(n * (inside - p) / (inside * (1 - inside)))
