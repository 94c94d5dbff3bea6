"""Approximate tests of one bin, many at once: the test of `difference_test`, for planning only.

The test is that of `difference_test`, with P(C_f - r C_s <= observed) by Lugannani and Rice's
saddlepoint formula (with the correction for whole numbers if r = 1) in place of the exact sum. It
errs by about a hundredth of the probability. No verdict depends on it: it forecasts the number of
people to recruit.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from auditor_client.stats import noise
from auditor_client.stats.noise import AnyNoise, Floats, Gaussian, Laplace, NoNoise

_STEPS = 4


@dataclass(frozen=True, slots=True)
class CountPairs:
    """Many pairs of noisy counts, as arrays; each count has `times` noises.

    Noise is a distribution, or the rate of discrete Laplace noise.
    """

    first: Floats
    second: Floats
    people: Floats
    others: Floats
    ratio: Floats
    rate: AnyNoise
    times: int = 1

    @property
    def observed(self) -> Floats:
        return self.first - self.ratio * self.second

    def spread(self, p: Floats, q: Floats) -> Floats:
        """Return the standard deviation of the observed difference of counts."""
        sampling = self.people * p * (1 - p) + self.ratio**2 * self.others * q * (1 - q)
        noises = self.times * noise.variance(self.rate)
        return np.sqrt(sampling + (1 + self.ratio**2) * noises)

    def quick_log_tail(self, p: Floats, q: Floats) -> Floats:
        """Return log P(C_f - r C_s <= observed), by a normal approximation."""
        return np.asarray(special.log_ndtr(self.deviations(p, q)))

    def deviations(self, p: Floats, q: Floats) -> Floats:
        """Return the distance of the observed difference above its mean, in standard deviations."""
        mean = self.people * p - self.ratio * self.others * q
        return np.asarray((self._bar - mean) / self.spread(p, q))

    @property
    def _whole(self) -> bool:
        return bool(np.all(self.ratio == 1.0))

    @property
    def _bar(self) -> Floats:
        return self.observed + 0.5 * self._whole

    def log_tail(self, p: Floats, q: Floats) -> Floats:
        """Return log P(C_f - r C_s <= observed), by the saddlepoint formula."""
        s, (value, slope, curve) = self._saddle(p, q)
        w = np.sign(s) * np.sqrt(np.maximum(2 * (s * slope - value), 1e-12))
        u = (2 * np.sinh(s / 2) if self._whole else s) * np.sqrt(curve)
        with np.errstate(divide="ignore", invalid="ignore"):
            # P(S <= s) is about Φ(w) + φ(w)(1/w - 1/u)
            found = special.ndtr(w) + np.exp(-w * w / 2) / math.sqrt(2 * math.pi) * (1 / w - 1 / u)
        usable = (np.abs(s) > 1e-4) & (found > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(usable, np.log(found), self.quick_log_tail(p, q))

    def _saddle(self, p: Floats, q: Floats) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
        pole = (
            0.98 * min(noise.distribution(self.rate).most_tilt, 30.0) / np.maximum(self.ratio, 1.0)
        )
        mean = self.people * p - self.ratio * self.others * q
        s = np.clip((self._bar - mean) / self.spread(p, q) ** 2, -0.9 * pole, 0.9 * pole)
        for _ in range(_STEPS):
            _, slope, curve = self._cumulants(s, p, q)
            s = np.clip(s - (slope - self._bar) / curve, -pole, pole)
        return s, self._cumulants(s, p, q)

    def _cumulants(self, s: Floats, p: Floats, q: Floats) -> tuple[Floats, Floats, Floats]:
        """Return K(s) = log E exp(s(C_f - r C_s)) and its first two derivatives."""
        r, k = self.ratio, self.times
        value, slope, curve = _binomial(s, self.people, p)
        other = _binomial(-r * s, self.others, q)
        ours = _noise(s, self.rate)
        theirs = ours if self._whole else _noise(r * s, self.rate)
        return (
            value + other[0] + k * (ours[0] + theirs[0]),
            slope - r * other[1] + k * (ours[1] + r * theirs[1]),
            curve + r**2 * other[2] + k * (ours[2] + r**2 * theirs[2]),
        )


def _binomial(s: Floats, people: Floats, p: Floats) -> tuple[Floats, Floats, Floats]:
    grown = 1 + p * np.expm1(s)
    share = p * np.exp(s) / grown
    return people * np.log(grown), people * share, people * share * (1 - share)


def _noise(s: Floats, rate: AnyNoise) -> tuple[Floats, Floats, Floats]:
    match noise.distribution(rate):
        case NoNoise():
            return np.zeros_like(s), np.zeros_like(s), np.zeros_like(s)
        case Gaussian(sigma2=sigma2):
            # The normal approximation. If σ² is too small for it, the sampling error is much
            # larger.
            return s**2 * (sigma2 / 2), s * sigma2, np.full_like(s, sigma2)
        case Laplace(rate=found):
            return _laplace(s, found)
        case other:
            raise TypeError(f"there is no forecast for {type(other).__name__} noise")


def _laplace(s: Floats, rate: float) -> tuple[Floats, Floats, Floats]:
    up, down = np.exp(s - rate), np.exp(-s - rate)
    value = 2 * math.log(-math.expm1(-rate)) - np.log((1 - up) * (1 - down))
    slope = up / (1 - up) - down / (1 - down)
    return value, slope, up / (1 - up) ** 2 + down / (1 - down) ** 2
