"""Distributions of noise on a count, each exactly as the platform draws it.

`Laplace` and `Gaussian` are integer noise; `NoNoise` is none; `Summed` is a sum of several;
`TreeError` is the error of a cumulative count, of which only exponential moments are known. Every
inexact result errs on one stated side, so that limits from it hold for finite samples.

[CKS20] Canonne, Kamath, Steinke, arXiv:2004.00010, §5.2 (the discrete Laplace distribution).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Mass that a truncated noise vector may omit on each side. It is never lost: callers add it on the
# side that widens their limit.
REST = 1e-11
_LARGEST_SIGMA = 1e5


class Noise(ABC):
    """Symmetric distribution on the integers."""

    # Whether masses are known, or only exponential moments.
    exact: ClassVar[bool] = True

    @property
    def most_tilt(self) -> float:
        """`log_mgf` is finite for |s| below this."""
        return math.inf

    @abstractmethod
    def log_mgf(self, s: Floats) -> Floats:
        """Return log E exp(sZ), or an upper bound of it."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Var(Z), or an upper bound of it, which directs searches and never decides a limit."""

    @property
    @abstractmethod
    def reach(self) -> int:
        """Largest tabulated value: at most REST of the mass lies beyond it on each side."""

    @abstractmethod
    def mass(self, k: Integers) -> Floats:
        """Return P(Z = k)."""

    @abstractmethod
    def wave(self, angle: Floats) -> Floats:
        """Return E exp(i·angle·Z), which is real because the distribution is symmetric."""

    def log_tilted_wave(self, s: Floats, turn: Floats) -> Floats:
        """Return a bound of log |E_s exp(iuZ)|, with E_s tilted by exp(sZ): rows are s, columns u.

        `turn` is 2(1 - cos u) for u from 0 to π, on which the bound never grows. The default bound
        is log 1.
        """
        return np.zeros((len(s), len(turn)))

    def tail(self, k: Integers) -> Floats:
        """Return P(Z >= k); beyond `reach` return the upper bound REST."""
        sums, reach = _tails(self), self.reach
        # P(Z >= k) = 1 - P(Z >= 1 - k) for k <= 0
        upper = sums[np.clip(np.where(k >= 1, k, 1 - k), 1, reach + 1)]
        return np.asarray(np.where(k >= 1, upper, 1 - upper))

    def simulated(self, generator: np.random.Generator, count: int) -> Integers:
        """Draw simulated noise for benches and tests, never for a release: seeded and truncated."""
        ks = np.arange(-self.reach, self.reach + 1)
        masses = np.maximum(self.mass(ks), 0.0)
        return np.asarray(generator.choice(ks, size=count, p=masses / masses.sum()))


@lru_cache(maxsize=64)
def _tails(law: Noise) -> Floats:
    """Return P(Z >= k) at k = 0 … reach + 1, including the mass beyond."""
    masses = law.mass(np.arange(0, law.reach + 1))
    return np.append(np.cumsum(masses[::-1])[::-1], 0.0) + REST


@dataclass(frozen=True)
class NoNoise(Noise):
    """No noise."""

    @property
    def variance(self) -> float:
        return 0.0

    @property
    def reach(self) -> int:
        return 0

    def log_mgf(self, s: Floats) -> Floats:
        return np.zeros_like(s)

    def mass(self, k: Integers) -> Floats:
        return np.asarray(k == 0, dtype=np.float64)

    def wave(self, angle: Floats) -> Floats:
        return np.ones_like(angle)

    def tail(self, k: Integers) -> Floats:
        return np.asarray(k <= 0, dtype=np.float64)


@dataclass(frozen=True)
class Laplace(Noise):
    """Discrete Laplace: P(Z = k) proportional to exp(-rate·|k|); the scale is 1/rate."""

    rate: float

    @property
    def most_tilt(self) -> float:
        return self.rate

    @property
    def variance(self) -> float:
        # Var(Z) = 2ρ / (1 - ρ)², ρ = exp(-rate)
        return 0.5 / math.sinh(min(self.rate, 700.0) / 2) ** 2

    @property
    def reach(self) -> int:
        return math.ceil(-math.log(REST) / self.rate) + 1

    def log_mgf(self, s: Floats) -> Floats:
        size = np.minimum(np.abs(s), self.rate)
        # E exp(sZ) = (1 - ρ)² / ((1 - ρ e^s)(1 - ρ e^-s)); Z is a difference of two geometrics
        with np.errstate(divide="ignore"):
            lower = np.log(np.expm1(size - self.rate) * np.expm1(-size - self.rate))
        return np.asarray(2 * math.log(-math.expm1(-self.rate)) - lower)

    def mass(self, k: Integers) -> Floats:
        # P(Z = k) = (1 - ρ) / (1 + ρ) · ρ^|k|   [CKS20, §5.2]
        return np.asarray(math.tanh(self.rate / 2) * np.exp(-self.rate * np.abs(k)))

    def tail(self, k: Integers) -> Floats:
        # P(Z >= k) = ρ^k / (1 + ρ) for k >= 1, and P(Z >= k) = 1 - P(Z >= 1 - k)
        upper = np.exp(-self.rate * np.where(k >= 1, k, 1 - k)) / (1 + math.exp(-self.rate))
        return np.asarray(np.where(k >= 1, upper, 1 - upper))

    def wave(self, angle: Floats) -> Floats:
        # E exp(iuZ) = (1 - ρ)² / (1 - 2ρ cos u + ρ²)
        rho = math.exp(-self.rate)
        return np.asarray((1 - rho) ** 2 / (1 - 2 * rho * np.cos(angle) + rho**2))

    def log_tilted_wave(self, s: Floats, turn: Floats) -> Floats:
        found = np.zeros((len(s), len(turn)))
        for ratio in (np.exp(s - self.rate)[:, None], np.exp(-s - self.rate)[:, None]):
            # A tilted difference of geometrics: |1 - r e^{iu}|² = (1 - r)² + 2r(1 - cos u)
            found -= np.log1p(ratio * turn / np.maximum(1 - ratio, 1e-12) ** 2) / 2
        return found

    def simulated(self, generator: np.random.Generator, count: int) -> Integers:
        hit = -math.expm1(-self.rate)
        return np.asarray(generator.geometric(hit, count) - generator.geometric(hit, count))


@dataclass(frozen=True)
class Gaussian(Noise):
    """Discrete Gaussian: P(Z = k) proportional to exp(-k² / 2σ²), `sigma2` being σ²."""

    sigma2: float

    def __post_init__(self) -> None:
        if not 0 < self.sigma2 <= _LARGEST_SIGMA**2:
            raise ValueError(
                f"sigma² must lie between 0 and {_LARGEST_SIGMA**2:g}, not {self.sigma2:g}"
            )

    @property
    def variance(self) -> float:
        """σ², which the variance never exceeds: see `log_mgf`."""
        return self.sigma2

    @property
    def reach(self) -> int:
        # P(Z >= k) <= exp(-k² / 2σ²), Chernoff's bound at s = k/σ²
        return math.ceil(math.sqrt(-2 * self.sigma2 * math.log(REST))) + 1

    def log_mgf(self, s: Floats) -> Floats:
        # Σ_k exp(-(k - μ)²/2σ²) is largest at μ = 0, because Poisson's summation gives a sum of
        # positive multiples of cos(2πjμ); with μ = sσ² this is E exp(sZ) <= exp(s²σ²/2).
        return np.asarray(s**2 * (self.sigma2 / 2))

    def mass(self, k: Integers) -> Floats:
        return np.asarray(np.exp(-(np.asarray(k, np.float64) ** 2) / (2 * self.sigma2)) / self._sum)

    def wave(self, angle: Floats) -> Floats:
        turned = np.remainder(np.asarray(angle) + np.pi, 2 * np.pi) - np.pi
        if self.sigma2 < _DIRECT:
            ks = np.arange(1, 8)
            terms = 2 * np.cos(np.multiply.outer(turned, ks)) * self.mass(ks)
            return np.asarray(self.mass(np.zeros(1, np.int64)) + terms.sum(axis=-1))
        # Poisson: the characteristic function is Σ_j exp(-σ²(u - 2πj)²/2) over its value at 0
        shifts = 2 * np.pi * np.arange(-3, 4)
        waves = np.exp(-(np.subtract.outer(turned, shifts) ** 2) * (self.sigma2 / 2)).sum(axis=-1)
        return np.asarray(waves / np.exp(-(shifts**2) * (self.sigma2 / 2)).sum())

    def log_tilted_wave(self, s: Floats, turn: Floats) -> Floats:
        # Tilted, P(Z = k) is proportional to exp(-(k - μ)²/2σ²), μ = sσ². Poisson's summation has
        # |Σ_k exp(-(k - μ)²/2σ² + iuk)| largest at μ = 0, and Σ_k exp(-(k - μ)²/2σ²) least at 1/2:
        # for every s, |E_s exp(iuZ)| <= E exp(iuZ) · S(0)/S(1/2). It falls in u
        # (docs/explanation/planning.md).
        with np.errstate(divide="ignore"):
            waves = np.log(np.maximum(self.wave(np.arccos(1 - turn / 2)), 0.0))
        return np.tile(np.minimum(waves + math.log(self._sum / self._halfway), 0.0), (len(s), 1))

    @property
    def _sum(self) -> float:
        """S(0) = Σ_k exp(-k²/2σ²), by the one of the two sums that needs only a few terms."""
        if self.sigma2 < _DIRECT:
            return 1 + 2 * math.fsum(math.exp(-(k**2) / (2 * self.sigma2)) for k in range(1, 9))
        return math.sqrt(2 * math.pi * self.sigma2) * (1 + 2 * math.fsum(self._waves))

    @property
    def _halfway(self) -> float:
        """S(1/2) = Σ_k exp(-(k - 1/2)²/2σ²)."""
        if self.sigma2 < _DIRECT:
            halves = (math.exp(-((k + 0.5) ** 2) / (2 * self.sigma2)) for k in range(8))
            return max(2 * math.fsum(halves), math.ulp(0.0))
        alternating = (wave * (-1) ** j for j, wave in enumerate(self._waves, 1))
        return math.sqrt(2 * math.pi * self.sigma2) * (1 + 2 * math.fsum(alternating))

    @property
    def _waves(self) -> list[float]:
        return [math.exp(-2 * (math.pi * j) ** 2 * self.sigma2) for j in range(1, 9)]


# Below this σ², sums over integers converge within a few terms; above it, sums over waves do.
_DIRECT = 0.25

AnyNoise = Noise | float


@lru_cache(maxsize=1024)
def distribution(noise: AnyNoise) -> Noise:
    """Return a given distribution, or discrete Laplace noise of a given rate."""
    if isinstance(noise, Noise):
        return noise
    return NoNoise() if math.isinf(noise) else Laplace(float(noise))
