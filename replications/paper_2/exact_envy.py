"""Exact envy from known utilities, which an audit estimates.

`utilities[m, n]` is u^m(π^n): person m's utility from the recommendations of person n.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Definitions 3.1 and 3.2, §5.1.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def envy(utilities: Floats) -> Floats:
    """Return each person's gain from the recommendations that they would like best."""
    # Δ^m = max(max_n u^m(π^n) - u^m(π^m), 0)   [DCAU22, §5.1]
    return np.asarray(utilities.max(axis=1) - np.diagonal(utilities))


def average_envy(utilities: Floats) -> float:
    return float(envy(utilities).mean())


def share_envious(utilities: Floats, epsilon: float) -> float:
    """Return the share of people who would gain more than epsilon."""
    return float((envy(utilities) > epsilon).mean())


def are_envious(utilities: Floats, epsilon: float, gamma: float) -> NDArray[np.bool_]:
    """Tell who is (ε, γ)-envious: a share above γ of all policies is better by more than ε."""
    better = utilities > np.diagonal(utilities)[:, None] + epsilon
    return np.asarray(better.mean(axis=1) > gamma)


def is_envy_free(utilities: Floats, epsilon: float, gamma: float = 0.0, lam: float = 0.0) -> bool:
    """Tell whether the platform is (ε, γ, λ)-envy-free; with γ = λ = 0, ε-envy-free."""
    return bool(are_envious(utilities, epsilon, gamma).mean() <= lam)
