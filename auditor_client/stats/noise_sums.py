"""Sums of independent noises: their distributions, and quantiles of weighted sums."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from auditor_client.stats.noise_distributions import (
    REST,
    AnyNoise,
    Floats,
    Integers,
    Laplace,
    Noise,
    NoNoise,
    distribution,
)

# Independent parts of a sum: number of draws, noise and integer weight.
Term = tuple[int, AnyNoise, int]

_LARGEST_LATTICE = 1 << 17


@dataclass(frozen=True)
class Summed(Noise):
    """Sum of independent draws: a number of draws for each distribution."""

    parts: tuple[tuple[Noise, int], ...]

    @property
    def most_tilt(self) -> float:
        return min(one.most_tilt for one, _ in self.parts)

    @property
    def variance(self) -> float:
        return sum(count * one.variance for one, count in self.parts)

    @property
    def reach(self) -> int:
        return _reach(self)

    def log_mgf(self, s: Floats) -> Floats:
        return np.asarray(sum(count * one.log_mgf(s) for one, count in self.parts))

    def log_tilted_wave(self, s: Floats, turn: Floats) -> Floats:
        parts = [count * one.log_tilted_wave(s, turn) for one, count in self.parts]
        return np.asarray(np.sum(parts, axis=0))

    def wave(self, angle: Floats) -> Floats:
        waves = [one.wave(angle) ** count for one, count in self.parts]
        return np.asarray(np.prod(waves, axis=0))

    def mass(self, k: Integers) -> Floats:
        masses, half = _masses(self), self.reach
        inside = np.abs(k) <= half
        return np.where(inside, masses[np.where(inside, k, 0) + half], 0.0)


def sum_of_draws(noise: AnyNoise, count: int) -> Noise:
    """Return the distribution of the sum of `count` independent draws."""
    one = distribution(noise)
    if count < 1 or isinstance(one, NoNoise):
        return NoNoise()
    return one if count == 1 else Summed(((one, count),))


def difference(first: AnyNoise, second: AnyNoise) -> Noise:
    """Return the distribution of the difference of two independent draws; by symmetry, also of
    their sum.
    """
    parts = tuple(
        (one, 1)
        for one in (distribution(first), distribution(second))
        if not isinstance(one, NoNoise)
    )
    if not parts:
        return NoNoise()
    return parts[0][0] if len(parts) == 1 else Summed(parts)


@lru_cache(maxsize=256)
def _reach(one: Summed) -> int:
    return _chernoff_quantile(((1, one, 1),), REST)


@lru_cache(maxsize=64)
def _masses(one: Summed) -> Floats:
    """Return masses from -reach to reach. Wrap-around and round-off are below 1e-10 in total."""
    half = one.reach
    size = 2 * (2 * half + 1)
    spectrum = one.wave(2 * np.pi * np.arange(size // 2 + 1) / size)
    found = np.maximum(np.fft.irfft(spectrum, size), 0.0)
    return np.concatenate([found[-half:], found[: half + 1]])


@dataclass(frozen=True)
class TreeError(Noise):
    """Error of a cumulative count from a consistent tree, rounded to an integer.

    It is Σ c_i Z_i over the nodes' discrete Laplace noises Z_i of the given rate, where Σ c_i² is
    at most `copies` and |c_i| <= 1 (docs/explanation/metrics.md). log E exp(sZ) is convex in s² and
    0 at 0, so log E exp(s c Z) <= c² log E exp(sZ), and the error has no larger moments than the
    sum of `copies` draws.
    """

    rate: float
    copies: float
    exact: ClassVar[bool] = False

    @property
    def most_tilt(self) -> float:
        return self.rate

    @property
    def variance(self) -> float:
        return self.copies * Laplace(self.rate).variance

    @property
    def reach(self) -> int:
        return _chernoff_quantile(((1, self, 1),), REST)

    def log_mgf(self, s: Floats) -> Floats:
        # Rounding to an integer adds at most one half to the error.
        return np.asarray(self.copies * Laplace(self.rate).log_mgf(s) + np.abs(s) / 2)

    def mass(self, k: Integers) -> Floats:
        raise NotImplementedError("only exponential moments of this error are known")

    def wave(self, angle: Floats) -> Floats:
        raise NotImplementedError("only exponential moments of this error are known")


@dataclass(frozen=True)
class MomentBoundNoise(Noise):
    """Distribution of which only the exponential moments are used.

    It is for merged groups with different shares: their number in a bin is not binomial, but its
    moments are at most those of a binomial variable with the mean share.
    """

    one: Noise
    exact: ClassVar[bool] = False

    @property
    def most_tilt(self) -> float:
        return self.one.most_tilt

    @property
    def variance(self) -> float:
        return self.one.variance

    @property
    def reach(self) -> int:
        return self.one.reach

    def log_mgf(self, s: Floats) -> Floats:
        return self.one.log_mgf(s)

    def mass(self, k: Integers) -> Floats:
        return self.one.mass(k)

    def wave(self, angle: Floats) -> Floats:
        return self.one.wave(angle)


@lru_cache(maxsize=1024)
def sum_quantile(terms: tuple[Term, ...], level: float) -> int:
    """Return a q with P(Σ weight·Z >= q) <= level; it is the smallest if computed exactly."""
    known = tuple((count, distribution(noise), weight) for count, noise, weight in terms)
    known = tuple(
        (count, one, weight)
        for count, one, weight in known
        if count > 0 and weight > 0 and not isinstance(one, NoNoise)
    )
    if not known:
        return 1
    bound = _chernoff_quantile(known, level)
    if bound > _LARGEST_LATTICE or not all(one.exact for _, one, _ in known):
        return bound
    # A negligible part of the level covers the mass that the truncation at `reach` omits.
    reach = _chernoff_quantile(known, level * 1e-4)
    size = 2 * (2 * reach + 1)
    angle = 2 * np.pi * np.arange(size // 2 + 1) / size
    spectrum = np.ones_like(angle)
    for count, one, weight in known:
        spectrum *= one.wave(weight * angle) ** count
    # Wrap-around adds mass to the tail, so it is on the safe side; 1e-12 covers round-off.
    masses = np.maximum(np.fft.irfft(spectrum, size), 0.0)[: size // 2]
    tails = np.cumsum(masses[::-1])[::-1] + 1e-12
    return int(np.argmax(np.append(tails, 0.0) <= level * (1 - 2e-4)))


def _chernoff_quantile(terms: tuple[tuple[int, Noise, int], ...], level: float) -> int:
    # P(S >= q) <= exp(log E exp(sS) - sq) for every s
    limit = min(one.most_tilt / weight for _, one, weight in terms)
    spread = sum(count * one.variance * weight**2 for count, one, weight in terms)
    # Values of s around the best one for a normal variable of the same variance.
    best = math.sqrt(-2 * math.log(level) / spread)
    s = best * np.geomspace(0.05, 5.0, 250)
    if math.isfinite(limit):
        s = np.concatenate([s[s < 0.998 * limit], limit * np.linspace(0.002, 0.998, 250)])
    total = np.zeros_like(s)
    for count, one, weight in terms:
        total += count * one.log_mgf(weight * s)
    return math.ceil(float(np.min((total - math.log(level)) / s)))
