"""Recommendation policies per person, and each person's utility from each of them.

A policy is a distribution over items; row m of an array of policies is that of person m.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, equation 1 and §5.1.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_HALVINGS = 60


def softmax(scores: Floats, inverse_temperature: float) -> Floats:
    """Return policies proportional to exp(inverse temperature × score)."""
    raised = inverse_temperature * scores
    weights = np.exp(raised - raised.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def best_item_policies(preferences: Floats) -> Floats:
    """Return policies that give everybody the item that they like best."""
    return np.asarray(np.eye(preferences.shape[1])[preferences.argmax(axis=1)])


def equal_utility_policies(preferences: Floats, penalty: float) -> Floats:
    """Return policies that maximise Σ_m u^m - (penalty/2) Σ_m (u^m - mean u)².

    Nobody can have more than the utility of their best item, so at the optimum all are limited to
    one cap, mean u + 1/penalty: u^m = min(best of m, cap). Those above it get their best item less
    often, and any item in its place.
    """
    top, anything = preferences.max(axis=1), preferences.mean(axis=1)
    cap = _cap(top, penalty)
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.where(top > cap, (cap - anything) / (top - anything), 1.0)
    share = np.clip(np.nan_to_num(kept, nan=1.0), 0.0, 1.0)[:, None]
    return np.asarray(share * best_item_policies(preferences) + (1 - share) / preferences.shape[1])


def _cap(top: Floats, penalty: float) -> float:
    """Solve cap = mean of min(top, cap) + 1/penalty; the left side grows faster."""
    low, high = float(top.min()), float(top.max())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        over = middle > np.minimum(top, middle).mean() + 1 / penalty
        low, high = (low, middle) if over else (middle, high)
    return high


def utilities(preferences: Floats, policies: Floats) -> Floats:
    """Return u^m(π^n) for each person m and each person's policy n."""
    # u^m(π) = Σ_a π(a) ρ^m(a), with one context   [DCAU22, equation 1]
    return np.asarray(preferences @ policies.T)
