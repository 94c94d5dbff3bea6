"""Path of targets through an audit in which every reward is its mean.

The path follows Algorithm 1 for many targets at once, in strides of two percent of the steps so
far.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Algorithm 1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auditor_client.errors import InputError
from auditor_client.stats.noise_distributions import Floats

Bounds = Literal["printed", "tight"]
Bools = NDArray[np.bool_]
STRIDE = 0.02


@dataclass(frozen=True)
class EnvyForecast:
    """Forecast for each target: its end, its number of steps and its loss of reward."""

    verdicts: NDArray[np.str_]
    steps: Floats
    costs: Floats


@dataclass(frozen=True)
class EnvyTerms:
    """Terms of each target's audit: level, tolerance and limit on the loss of reward."""

    level: float
    tolerance: float
    alpha: float
    bounds: Bounds = "tight"
    omega: float = 0.99
    sigma: float = 0.5

    def __post_init__(self) -> None:
        for name, value, most in (
            ("level", self.level, 0.5),
            ("tolerance", self.tolerance, 1.0),
            ("alpha", self.alpha, 1.0),
        ):
            if not 0 < value <= most:
                raise InputError(f"{name} must be above 0 and at most {most:g}, not {value!r}.")
        if self.bounds not in ("printed", "tight"):
            raise InputError(
                f"bounds are 'printed' or 'tight', not {self.bounds!r}.", case="bounds"
            )


class ForecastPath(ABC):
    """State of the targets: pulls of each arm, and the arms that are still undecided."""

    def __init__(self, means: Floats, terms: EnvyTerms) -> None:
        self.own, self.means, self.terms = means[:, :1], means[:, 1:], terms
        self.home = np.zeros_like(self.own)
        self.pulls = np.zeros_like(self.means)
        self.active = np.ones(self.means.shape, bool)
        self.running = np.ones(len(means), bool)
        self.verdicts = np.full(len(means), "undecided", dtype="U9")

    def followed(self, ceiling: int) -> EnvyForecast:
        step = 0
        while step < ceiling and self.running.any():
            stride = min(1 + int(STRIDE * step), ceiling - step)
            away = self.running[:, None] & self._explores(step)
            self.home += stride * (self.running[:, None] & ~away)
            self.pulls += np.where(away, self._spread(stride), 0.0)
            step += stride
            self._judge()
        steps = (self.home + self.pulls.sum(axis=1, keepdims=True))[:, 0]
        costs = (self.pulls * (self.own - self.means)).sum(axis=1)
        return EnvyForecast(self.verdicts, steps, costs)

    def _judge(self) -> None:
        self.active &= ~(self._dropped() & self.running[:, None])
        envious = self.running & (self._envied() & self.active).any(axis=1)
        content = self.running & ~self.active.any(axis=1) & ~envious
        self.verdicts[envious], self.verdicts[content] = "envy", "no-envy"
        self.running &= ~(envious | content)

    @property
    def gained(self) -> Floats:
        return np.asarray((self.pulls * self.means).sum(axis=1, keepdims=True))

    @property
    def explored(self) -> Floats:
        return np.asarray(self.pulls.sum(axis=1, keepdims=True))

    @abstractmethod
    def _explores(self, step: int) -> Bools:
        """Return the targets that are shown an arm next."""

    @abstractmethod
    def _spread(self, stride: int) -> Floats:
        """Return the shares of the active arms in this number of pulls."""

    @abstractmethod
    def _dropped(self) -> Bools:
        """Return the arms that are certainly not better by more than the tolerance."""

    @abstractmethod
    def _envied(self) -> Bools:
        """Return the arms that are certainly better."""
