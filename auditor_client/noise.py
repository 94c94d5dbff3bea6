"""Discrete Laplace noise, exactly: P(Z = k) proportional to exp(-epsilon |k|).

Everything here errs on one stated side, so that limits built on it hold for finite samples.

[CKS20] Canonne, Kamath, Steinke, arXiv:2004.00010, §5.2 (the discrete Laplace distribution).
"""

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft

Floats = NDArray[np.float64]
Epsilon = float | int | str | Decimal | Fraction

# Mass that a truncated noise vector may leave out. It is never dropped: callers put it on the
# side that widens their limit.
REST = 1e-11
_LARGEST_LATTICE = 1 << 17


def as_rate(epsilon: Epsilon | None, name: str = "epsilon") -> float:
    """`epsilon` as a positive float; None means that no noise was added."""
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


def mass(k: NDArray[np.int64], rate: float) -> Floats:
    """P(Z = k)."""
    # P(Z = k) = (1 - ρ) / (1 + ρ) · ρ^|k|, ρ = exp(-epsilon)   [CKS20, §5.2]
    if math.isinf(rate):
        return np.asarray(k == 0, dtype=np.float64)
    return np.asarray(math.tanh(rate / 2) * np.exp(-rate * np.abs(k)))


def tail(k: NDArray[np.int64], rate: float) -> Floats:
    """P(Z >= k)."""
    if math.isinf(rate):
        return np.asarray(k <= 0, dtype=np.float64)
    # P(Z >= k) = ρ^k / (1 + ρ) for k >= 1, and P(Z >= k) = 1 - P(Z >= 1 - k)
    above = np.exp(-rate * np.maximum(k, 1)) / (1 + math.exp(-rate))
    below = 1 - np.exp(-rate * np.maximum(1 - k, 1)) / (1 + math.exp(-rate))
    return np.asarray(np.where(k >= 1, above, below))


def variance(rate: float) -> float:
    """Var(Z) = 2ρ / (1 - ρ)²."""
    return 0.0 if math.isinf(rate) else 0.5 / math.sinh(min(rate, 700.0) / 2) ** 2


def log_mgf(s: Floats, rate: float) -> Floats:
    """log E exp(sZ); infinite from |s| >= epsilon on."""
    if math.isinf(rate):
        return np.zeros_like(s)
    size = np.minimum(np.abs(s), rate)
    # E exp(sZ) = (1 - ρ)² / ((1 - ρ e^s)(1 - ρ e^-s)); Z is a difference of two geometrics
    with np.errstate(divide="ignore"):
        lower = np.log(-np.expm1(size - rate)) + np.log(-np.expm1(-size - rate))
    return np.asarray(2 * math.log(-math.expm1(-rate)) - lower)


@lru_cache(maxsize=64)
def rounded_up(rate: float, width: int) -> Floats:
    """Masses of Z rounded up to multiples of `width`, centred; at most 2 REST are left out."""
    if math.isinf(rate):
        return np.ones(1)
    reach = math.ceil(-math.log(REST) / (rate * width)) + 1
    edges = np.arange(-reach, reach + 1) * width
    if width == 1:
        return mass(edges, rate)
    # P((m - 1)w < Z <= mw), by differences of the smaller tail
    upper, lower = tail(edges + 1, rate), tail(edges - width + 1, rate)
    left = tail(-edges, rate) - tail(width - edges, rate)
    return np.where(edges > 0, lower - upper, left)


@lru_cache(maxsize=256)
def sum_quantile(terms: tuple[tuple[int, float, int], ...], level: float) -> int:
    """A q, least where that is computed exactly, with P(Σ weight·Z >= q) <= level.

    `terms` are (how many, epsilon, integer weight) of independent discrete Laplace variables.
    """
    terms = tuple(term for term in terms if term[0] > 0 and term[2] > 0 and math.isfinite(term[1]))
    if not terms:
        return 1
    bound = _chernoff_quantile(terms, level)
    if bound > _LARGEST_LATTICE:
        return bound
    # A negligible part of the level pays for what the truncation at `reach` leaves out.
    reach = _chernoff_quantile(terms, level * 1e-4)
    size = 2 * (2 * reach + 1)
    spectrum = np.ones(size // 2 + 1)
    angle = 2 * np.pi * np.arange(size // 2 + 1) / size
    for count, rate, weight in terms:
        # E exp(iuZ) = (1 - ρ)² / (1 - 2ρ cos u + ρ²)
        rho = math.exp(-rate)
        spectrum *= ((1 - rho) ** 2 / (1 - 2 * rho * np.cos(weight * angle) + rho**2)) ** count
    # Wrapping around adds mass to the tail, hence stays on the safe side; 1e-12 is round-off.
    masses = np.maximum(np.fft.irfft(spectrum, size), 0.0)[: size // 2]
    tails = np.cumsum(masses[::-1])[::-1] + 1e-12
    return int(np.argmax(np.append(tails, 0.0) <= level * (1 - 2e-4)))


def _chernoff_quantile(terms: tuple[tuple[int, float, int], ...], level: float) -> int:
    # P(S >= q) <= exp(log E exp(sS) - sq) for every s
    limit = min(rate / weight for _, rate, weight in terms)
    s = limit * np.linspace(0.002, 0.998, 250)
    total = sum(count * log_mgf(weight * s, rate) for count, rate, weight in terms)
    return math.ceil(float(np.min((total - math.log(level)) / s)))


def convolve(masses: Floats, kernel: Floats) -> Floats:
    """Each row of `masses` convolved with `kernel`."""
    if len(kernel) == 1:
        return np.asarray(masses * kernel[0])
    length = masses.shape[1] + len(kernel) - 1
    size = fft.next_fast_len(length, real=True)
    spectrum = fft.rfft(masses, size, axis=1) * fft.rfft(kernel, size)
    return np.asarray(fft.irfft(spectrum, size, axis=1)[:, :length])
