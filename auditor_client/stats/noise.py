"""Properties of noise for analyses: masses, tails, moments, and quantiles of weighted sums.

Noise is given as one of the `noise_distributions`, or as a float: the rate of discrete Laplace
noise (1/scale, the epsilon of a count that one person changes by one; infinite without noise).
Every result errs on one stated side, so that limits from it hold for finite samples.
"""

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy import fft

from auditor_client.stats.noise_distributions import (
    REST,
    AnyNoise,
    Floats,
    Gaussian,
    Integers,
    Laplace,
    Noise,
    NoNoise,
    distribution,
)
from auditor_client.stats.noise_sums import (
    MomentBoundNoise,
    Summed,
    Term,
    TreeError,
    difference,
    sum_of_draws,
    sum_quantile,
)

__all__ = [
    "REST",
    "AnyNoise",
    "Epsilon",
    "Floats",
    "Gaussian",
    "Integers",
    "Laplace",
    "MomentBoundNoise",
    "NoNoise",
    "Noise",
    "Summed",
    "Term",
    "TreeError",
    "as_rate",
    "convolve",
    "difference",
    "distribution",
    "gaussian_at",
    "log_mgf",
    "mass",
    "round_masses_up",
    "sum_of_draws",
    "sum_quantile",
    "tail",
    "variance",
]

Epsilon = float | int | str | Decimal | Fraction


def as_rate(epsilon: Epsilon | None, name: str = "epsilon") -> float:
    """Return `epsilon` as a positive float; None means that no noise was added."""
    if epsilon is None:
        return math.inf
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | str | Decimal | Fraction):
        raise ValueError(f"{name} must be a positive number, not {epsilon!r}")  # noqa: TRY004
    try:
        rate = float(Fraction(epsilon)) if isinstance(epsilon, str) else float(epsilon)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise ValueError(f"{name} must be a positive number, not {epsilon!r}") from error
    if not rate > 0:
        raise ValueError(f"{name} must be greater than 0, not {epsilon}")
    return rate


def gaussian_at(rho: Epsilon) -> Gaussian:
    """Return the noise on counts that one person changes by one, bought at `rho` under
    add/remove.
    """
    # rho = 1 / 2σ²   (privacy/waist/gaussian.py)
    return Gaussian(1 / (2 * as_rate(rho, "rho")))


def mass(k: Integers, noise: AnyNoise) -> Floats:
    """Return P(Z = k)."""
    return distribution(noise).mass(k)


def tail(k: Integers, noise: AnyNoise) -> Floats:
    """Return P(Z >= k)."""
    return distribution(noise).tail(k)


def variance(noise: AnyNoise) -> float:
    """Return Var(Z), or an upper bound, which only directs searches."""
    return distribution(noise).variance


def log_mgf(s: Floats, noise: AnyNoise) -> Floats:
    """Return log E exp(sZ), or an upper bound; infinite from `most_tilt` on."""
    return distribution(noise).log_mgf(s)


@lru_cache(maxsize=64)
def _blocks(law: Noise, width: int) -> Floats:
    if isinstance(law, NoNoise):
        return np.ones(1)
    reach = math.ceil(law.reach / width) + 1
    edges = np.arange(-reach, reach + 1) * width
    if width == 1:
        return law.mass(edges)
    # P((m - 1)w < Z <= mw), by differences of the smaller tail
    upper, lower = law.tail(edges + 1), law.tail(edges - width + 1)
    left = law.tail(-edges) - law.tail(width - edges)
    return np.maximum(np.where(edges > 0, lower - upper, left), 0.0)


def round_masses_up(noise: AnyNoise, width: int) -> Floats:
    """Return masses of Z rounded up to multiples of `width`, centred; at most 2 REST are
    omitted.
    """
    return _blocks(distribution(noise), width)


def convolve(masses: Floats, kernel: Floats) -> Floats:
    """Return each row of `masses` convolved with `kernel`."""
    if len(kernel) == 1:
        return np.asarray(masses * kernel[0])
    length = masses.shape[1] + len(kernel) - 1
    size = fft.next_fast_len(length, real=True)
    spectrum = fft.rfft(masses, size, axis=1) * fft.rfft(kernel, size)
    return np.asarray(fft.irfft(spectrum, size, axis=1)[:, :length])
