"""Forecast of Algorithm 1 as printed, with means in place of rewards.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Algorithm 1, equation 4, Lemma 4.
"""

import math

import numpy as np

from auditor_client.envy.forecast_path import Bools, ForecastPath
from auditor_client.stats.noise_distributions import Floats


class Printed(ForecastPath):
    """Path of Algorithm 1 as printed."""

    def _explores(self, step: int) -> Bools:
        alike = np.where(self.active, self.pulls, 0.0).max(axis=1, keepdims=True)
        # Among k arms drawn equally often, the most pulled is √(2N ln k) ahead of the others.
        ahead = np.sqrt(2 * alike * np.log(np.maximum(self.active.sum(axis=1, keepdims=True), 1)))
        owed = (1 - self.terms.alpha) * (step + 1) - self.home
        high = np.where(self.home > 0, self.own + self._beta(self.home), 1.0)
        each = np.where(self.pulls > 0, self._beta(np.maximum(self.pulls, 1)) * self.pulls, 0.0)
        deviation = np.minimum(each.sum(axis=1, keepdims=True), self._phi(self.explored))
        low = np.where(alike > 0, self.own - self._beta(np.maximum(alike, 1)), 0.0)
        # ξ_t = Σ_A r - Φ(t) + low_ℓ + (N_0 - (1-α)t) high_0   [DCAU22, equation 4]
        slack = self.gained - deviation + low - owed * high
        return np.asarray((self.home >= alike + ahead) & (slack >= 0))

    def _spread(self, stride: int) -> Floats:
        many = np.maximum(self.active.sum(axis=1, keepdims=True), 1)
        return np.where(self.active, stride / many, 0.0)

    def _dropped(self) -> Bools:
        gap = self.own + self.terms.tolerance - self.means
        return np.asarray(self._beta(self.home) + self._beta(self.pulls) <= gap)

    def _envied(self) -> Bools:
        return np.asarray(self._beta(self.home) + self._beta(self.pulls) < self.means - self.own)

    def _beta(self, n: Floats) -> Floats:
        omega, sigma = self.terms.omega, self.terms.sigma
        arms = self.means.shape[1]
        # θ = ln(1+ω) (ωδ / (2(2+ω)))^{1/(1+ω)}   [DCAU22, Lemma 4]
        small = (omega * self.terms.level / (2 * (2 + omega))) ** (1 / (1 + omega))
        theta, pulls = math.log1p(omega) * small, np.maximum(n, 1.0)
        # β² = 2σ²(1+√ω)²(1+ω)/N · ln((2(K+1)/θ) ln((1+ω)N))   [DCAU22, Lemma 4]
        times = np.log(2 * (arms + 1) / theta * np.log((1 + omega) * pulls))
        square = 2 * sigma**2 * (1 + math.sqrt(omega)) ** 2 * (1 + omega) / pulls * times
        return np.where(n > 0, np.sqrt(square), np.inf)

    def _phi(self, n: Floats) -> Floats:
        # φ = σ √(2|A| ln(6|A|²/δ)) + (2/3) ln(6|A|²/δ)   [DCAU22, §4.3]
        times = np.log(6 * np.maximum(n, 1.0) ** 2 / self.terms.level)
        return np.where(n >= 1, self.terms.sigma * np.sqrt(2 * n * times) + 2 / 3 * times, 0.0)
