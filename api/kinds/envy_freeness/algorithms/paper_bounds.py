"""Printed confidence bounds: Lemma 4 for arms, φ for the explored rewards.

With probability 1 - δ, for all arms k and all times, |μ_k - mean_k| ≤ β(N_k); and the sum of the
explored rewards is within Φ = min(Σ_k β(N_k) N_k, φ(|A|)) of its expectation.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §4.3; Lemma 4 is in arXiv:2104.14527.
"""

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from api.kinds.envy_freeness.algorithms.terms import Terms

Floats = NDArray[np.float64]


def theta(delta: float, omega: float) -> float:
    # θ = ln(1+ω) (ωδ / (2(2+ω)))^{1/(1+ω)}   [DCAU22, Lemma 4]
    return float(np.log1p(omega) * (omega * delta / (2 * (2 + omega))) ** (1 / (1 + omega)))


@overload
def beta(n: float, arms: int, delta: float, omega: float, sigma: float) -> float: ...
@overload
def beta(n: NDArray[np.int64], arms: int, delta: float, omega: float, sigma: float) -> Floats: ...
def beta(
    n: ArrayLike, arms: int, delta: float, omega: float = 0.99, sigma: float = 0.5
) -> float | Floats:
    """Return half the width of an arm's interval after n pulls; `arms` excludes the baseline."""
    pulls = np.asarray(n, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        # β² = 2σ²(1+√ω)²(1+ω)/N · ln((2(K+1)/θ) ln((1+ω)N))   [DCAU22, Lemma 4]
        times = np.log(2 * (arms + 1) / theta(delta, omega) * np.log((1 + omega) * pulls))
        square = 2 * sigma**2 * (1 + omega**0.5) ** 2 * (1 + omega) / pulls * times
        found = np.where(pulls >= 1, np.sqrt(square), np.inf)
    return found if found.ndim else float(found)


@overload
def phi(explored: float, delta: float, sigma: float) -> float: ...
@overload
def phi(explored: NDArray[np.int64], delta: float, sigma: float) -> Floats: ...
def phi(explored: ArrayLike, delta: float, sigma: float = 0.5) -> float | Floats:
    """Return the bound on the error of the sum of `explored` rewards; 0 for none.

    Below [DCAU22, equation 4].
    """
    steps = np.asarray(explored, np.float64)
    # φ = σ √(2|A| ln(6|A|²/δ)) + (2/3) ln(6|A|²/δ)   [DCAU22, §4.3]
    times = np.log(6 * np.maximum(steps, 1) ** 2 / delta)
    found = np.where(steps >= 1, sigma * np.sqrt(2 * steps * times) + 2 / 3 * times, 0.0)
    return found if found.ndim else float(found)


# β(n), n·β(n) and φ(n).
WIDTH = np.dtype([("beta", "f8"), ("spread", "f8"), ("phi", "f8")])


class Widths:
    """Table of WIDTH for n = 0, 1, …, computed once and read at every step.

    β falls in n, so the narrowest interval is that of the arm with the most pulls.
    """

    def __init__(self, terms: Terms, arms: int) -> None:
        self._terms, self._arms = terms, arms
        self.table = np.empty(0, WIDTH)
        self.reach(1023)

    def reach(self, n: int) -> None:
        """Hold at least the entries up to n."""
        if n >= len(self.table):
            self.table = np.concatenate(
                [self.table, self._entries(len(self.table), n + n // 4 + 1)]
            )
            self.beta, self.spread, self.phi = (self.table[name] for name in WIDTH.names or ())

    def _entries(self, first: int, end: int) -> NDArray[Any]:
        n, terms = np.arange(first, end), self._terms
        entries = np.empty(len(n), WIDTH)
        entries["beta"] = beta(n, self._arms, terms.delta, terms.omega, terms.sigma)
        entries["spread"] = np.where(n > 0, entries["beta"], 0.0) * n
        entries["phi"] = phi(n, terms.delta, terms.sigma)
        return entries
