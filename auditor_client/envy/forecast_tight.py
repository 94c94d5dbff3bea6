"""Forecast of the tight version of Algorithm 1, with means in place of rewards.

See docs/explanation/envy.md.
"""

import math

import numpy as np

from auditor_client.envy import bernoulli_divergence
from auditor_client.envy.forecast_path import STRIDE, Bools, ForecastPath
from auditor_client.stats.noise_distributions import Floats

# Shares of delta: for verdicts, and for constraint (3).
_VERDICT, _SAFE = 3 / 4, 1 / 4
# Logarithm of the cost of mixed bets compared with the best bet, measured in simulations.
_DROP_PRICE, _ENVY_PRICE, _SAFE_PRICE = 2.3, 3.0, 2.3
# Smallest variance that is used.
_LEAST, _HALVINGS = 1e-3, 26


class Tight(ForecastPath):
    """Path of the version with the same guarantee by bets, whose gain on coins is a relative
    entropy.

    See docs/explanation/envy.md.
    """

    def _explores(self, step: int) -> Bools:
        spread = self.means * (1 - self.means) + (self.means - self.own) ** 2
        weights = np.where(self.active, self.pulls**2 / np.maximum(spread, _LEAST), 0.0)
        wanted = self.own * (1 - self.own) * weights.sum(axis=1, keepdims=True)
        block = 1 + step * STRIDE * min(self.terms.alpha, 1 / self.means.shape[1])
        owed = (1 - self.terms.alpha) * (step + block) - self.home
        mean = self.gained / np.maximum(self.explored, 1e-9)
        noise = self.explored * mean * (1 - mean)
        noise = noise + owed**2 * self.own * (1 - self.own) / np.maximum(self.home, 1e-9)
        needed = _SAFE_PRICE - math.log(_SAFE * self.terms.level)
        safe = (owed <= 0) | (self.gained - owed * self.own >= np.sqrt(2 * needed * noise))
        return np.asarray((self.home**2 >= wanted) & safe)

    def _spread(self, stride: int) -> Floats:
        """Give pulls to the best prospects, mean + √(2 ln t · v/N), until all arms with pulls are
        equal.
        """
        spread = self.means * (1 - self.means)
        reach = 2 * np.log(self.home + self.explored + 2)
        low, high = self.means.min(axis=1, keepdims=True), np.full_like(self.own, 1e3)
        for _ in range(_HALVINGS):
            prospect = (low + high) / 2
            more = self._up_to(prospect, spread, reach).sum(axis=1, keepdims=True)
            over = more > stride
            low, high = np.where(over, prospect, low), np.where(over, high, prospect)
        found = self._up_to(low, spread, reach)
        return np.asarray(stride * found / np.maximum(found.sum(axis=1, keepdims=True), 1e-9))

    def _up_to(self, prospect: Floats, spread: Floats, reach: Floats) -> Floats:
        beyond = np.maximum(prospect - self.means, 1e-6)
        wanted = np.minimum(reach * np.maximum(spread, _LEAST) / beyond**2, 1e15)
        return np.where(self.active, np.maximum(wanted - self.pulls, 0.0), 0.0)

    def _dropped(self) -> Bools:
        needed = _DROP_PRICE - math.log(_VERDICT * self.terms.level)
        return self._shows(self.own + self.terms.tolerance, self.terms.tolerance) >= needed

    def _envied(self) -> Bools:
        level = _VERDICT * self.terms.level / self.means.shape[1]
        return self._shows(self.own, 0.0, above=True) >= _ENVY_PRICE - math.log(level)

    def _shows(self, bar: Floats, margin: float, *, above: bool = False) -> Floats:
        """Return the logarithm of the evidence that an arm lies below the bar, or above it."""
        found = bernoulli_divergence.least_divergence(
            self.means, bar, margin, self.pulls, self.home
        )
        there = self.means > bar if above else self.means < bar
        return np.where(there, found, 0.0)
