"""Tail probability of a difference of two groups' noisy counts.

`tail_upper_bound` bounds P(C_f - r C_s <= c_f - r c_s) from above, where C = X + Z, X binomial and
Z the noise, all independent. Up to a few thousand people it is the exact sum. Beyond that, counts
are grouped in blocks, and each moves to the side that makes the probability larger: the result is
still a bound.

[ZS13] Zubkov, Serov, Theory Probab. Appl. 57(3), 2013, abstract: two-sided bounds of the binomial
       distribution function, in which the upper bound at k is the lower bound at k + 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from auditor_client.stats import noise
from auditor_client.stats.chernoff import tilts
from auditor_client.stats.noise import AnyNoise, Floats

# Covers round-off of the sums: far below every level in use, far above 1e-16 per term.
_ROUND_OFF = 1e-10
_DEVIATIONS = 6.0
_EXACT_BELOW = 40.0
_BLOCKS = 20.0


@dataclass(frozen=True, slots=True)
class Count:
    """One noisy count: its value, the number of people among whom it counts, and its noise.

    Noise is a distribution, or the rate of discrete Laplace noise.
    """

    value: int
    people: int
    rate: AnyNoise


@dataclass(frozen=True, slots=True)
class _Lattice:
    """Rows of masses at (start + j)·width; `rest` is the mass that a row omits."""

    start: NDArray[np.int64]
    width: int
    masses: Floats

    @property
    def rest(self) -> Floats:
        return np.asarray(np.maximum(1.0 - self.masses.sum(axis=1), 0.0))


def tail_upper_bound(
    first: Count, second: Count, ratio: float, p_first: Floats, p_second: Floats
) -> Floats:
    """Return an upper bound of P(C_f - ratio·C_s <= observed), for each pair of probabilities."""
    if not (noise.distribution(first.rate).exact and noise.distribution(second.rate).exact):
        return _by_moments(first, second, ratio, p_first, p_second)

    def line(values: Floats) -> Floats:
        return first.value + ratio * (values - second.value)

    return tail_below_line(first, second, p_first, p_second, line)


def _by_moments(
    first: Count, second: Count, ratio: float, p_first: Floats, p_second: Floats
) -> Floats:
    """Return Chernoff's bound, for noise of which only exponential moments are known."""
    one, other = noise.distribution(first.rate), noise.distribution(second.rate)
    s = tilts(min(one.most_tilt, other.most_tilt / ratio))
    # log E exp(-s(C_f - r C_s - observed)), for every s > 0
    more = np.expm1(np.minimum(ratio * s, 300.0))
    logs = first.people * np.log1p(np.multiply.outer(p_first, np.expm1(-s)))
    logs = logs + second.people * np.log1p(np.multiply.outer(p_second, more))
    logs = logs + one.log_mgf(s) + other.log_mgf(ratio * s)
    logs = logs + s * (first.value - ratio * second.value)
    return np.asarray(np.exp(np.minimum(logs.min(axis=1), 0.0)))


def tail_below_line(
    first: Count,
    second: Count,
    p_first: Floats,
    p_second: Floats,
    line: Callable[[Floats], Floats],
) -> Floats:
    """Return an upper bound of P(C_f <= line(C_s)) for a line that does not fall; rows are
    pairs.
    """
    low, high = _rounded(first, p_first, up=False), _rounded(second, p_second, up=True)
    columns = np.arange(high.masses.shape[1])
    values = ((high.start[:, None] + columns) * high.width).astype(np.float64)
    # The tiny shift counts ties, however the line is rounded.
    allowed = np.floor(line(values) + 1e-7)
    index = np.floor_divide(allowed, low.width).astype(np.int64) - low.start[:, None]
    below = _cumulative(low, index)
    total = np.einsum("ij,ij->i", high.masses, below) + low.rest + high.rest
    return np.asarray(np.minimum(total + _ROUND_OFF, 1.0))


def _cumulative(lattice: _Lattice, index: NDArray[np.int64]) -> Floats:
    rows, length = lattice.masses.shape
    sums = np.zeros((rows, length + 1))
    np.cumsum(lattice.masses, axis=1, out=sums[:, 1:])
    flat = np.clip(index + 1, 0, length) + (np.arange(rows) * (length + 1))[:, None]
    return np.asarray(sums.ravel()[flat])


def _rounded(count: Count, p: Floats, *, up: bool) -> _Lattice:
    spread = math.sqrt(count.people * float(np.max(p * (1 - p))))
    width = _width(math.hypot(spread, math.sqrt(noise.variance(count.rate))))
    half = math.ceil(_DEVIATIONS * spread / width) + 8
    start = np.floor(count.people * p / width).astype(np.int64) - half
    at = start[:, None] + np.arange(2 * half + 1)
    kernel = noise.round_masses_up(count.rate, width)
    if width == 1:
        masses = _binomial(count.people, p, at)
    else:
        masses = np.diff(_below(count.people, p, np.c_[start - 1, at] * width), axis=1)
        # Rounded down instead of up: the same masses one block lower, the noise mirrored.
        start, kernel = (start, kernel) if up else (start - 1, kernel[::-1])
    return _Lattice(start - len(kernel) // 2, width, noise.convolve(masses, kernel))


def _width(deviation: float) -> int:
    return 1 if deviation < _EXACT_BELOW else math.floor(deviation / _BLOCKS)


def _binomial(n: int, p: Floats, k: NDArray[np.int64]) -> Floats:
    inside = np.clip(k, 0, n)
    logs = _log_choose(n)[inside] if n <= _TABLE else _log_choose_at(n, inside)
    # Logarithms are clipped at -750, where exp is 0, so p = 0 and p = 1 need no special case.
    with np.errstate(divide="ignore"):
        hit = np.maximum(np.log(p), -750.0)[:, None]
        miss = np.maximum(np.log1p(-p), -750.0)[:, None]
    logs = logs + inside * hit + (n - inside) * miss
    return np.where(inside == k, np.exp(logs), 0.0)


_TABLE = 20_000


@lru_cache(maxsize=32)
def _log_choose(n: int) -> Floats:
    return _log_choose_at(n, np.arange(n + 1))


def _log_choose_at(n: int, k: NDArray[np.int64]) -> Floats:
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))


def _below(n: int, p: Floats, k: NDArray[np.int64]) -> Floats:
    """Return a lower bound of P(X <= k), and at the same time an upper bound of P(X <= k - 1)."""
    share, column = np.clip(k, 0, n) / n, p[:, None]
    # Φ(sgn(k/n - p)·√(2n·H(k/n, p))), H the relative entropy   [ZS13]
    entropy = special.rel_entr(share, column) + special.rel_entr(1 - share, 1 - column)
    bound = special.ndtr(np.sign(share - column) * np.sqrt(2 * n * np.maximum(entropy, 0.0)))
    bound = np.where(k == 0, (1 - column) ** n, np.where(k == n, 1 - column**n, bound))
    return np.where(k < 0, 0.0, np.where(k > n, 1.0, bound))
