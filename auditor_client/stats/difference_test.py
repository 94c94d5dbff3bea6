"""Exact test of the difference of two shares, from two noisy counts of one bin.

`Contrast` concerns p_first - p_second in one bin. A difference d is rejected if, for every
plausible pair of shares at least d apart, a first count this low (compared with the second) has a
probability of at most `level`. The plausible pairs form a box (`chernoff`), which costs a small
part of the level. It is split into cells. On a cell the probability is largest at one corner,
because it falls in p_first and grows in p_second. So the search over shares is a proof, not a grid
of samples. The proof is in docs/explanation/intervals.md.

[BB94] Berger, Boos, J. Amer. Statist. Assoc. 89, 1994 (limits for the nuisance parameter first).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from auditor_client.stats import noise
from auditor_client.stats.chernoff import tilts
from auditor_client.stats.difference_tail import Count, tail_upper_bound
from auditor_client.stats.noise import Floats

# Level that a cell may use, given the lowest p_first in it.
Level = Callable[[Floats], Floats]

# Width of a cell of shares, in standard deviations, and the number of cells first tried as one.
_CELL = 0.035
_PARTS = 4
_MOST_CELLS = 100


def constant(level: float) -> Level:
    """Return the same level for every cell."""
    return lambda p: np.full_like(p, level)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two noisy counts of one bin, and other known facts about the two shares."""

    first: Count
    second: Count
    ratio: float
    p_first: tuple[float, float]
    p_second: tuple[float, float]

    @property
    def observed(self) -> float:
        return (self.first.value - self.ratio * self.second.value) / self.first.people

    def spread(self, p_first: float, p_second: float) -> float:
        """Return the standard deviation of the observed difference."""
        first, second = self.first, self.second
        sampling = first.people * p_first * (1 - p_first)
        sampling += self.ratio**2 * second.people * p_second * (1 - p_second)
        noises = noise.variance(first.rate) + self.ratio**2 * noise.variance(second.rate)
        return math.sqrt(max(sampling + noises, 0.01)) / first.people

    def approximate(self, level: float) -> float:
        """Return the upper limit by a normal approximation: the start of a search, never a
        result.
        """
        share = np.clip(self.first.value / self.first.people, 0.0, 1.0)
        other = np.clip(self.second.value / self.second.people, 0.0, 1.0)
        half = 0.5 / math.sqrt(self.first.people)
        pooled = min(max(float(share + other) / 2 + half, half), 1.0)
        return self.observed - float(special.ndtri(level)) * self.spread(pooled, pooled)


def rejects_by_chernoff(contrast: Contrast, difference: float, level: float) -> bool:
    """Tell whether Chernoff's bound, a fast sufficient condition, rejects at a constant level."""
    low, high = _range(contrast, difference)
    if low > high:
        return True
    first, second, r = contrast.first, contrast.second, contrast.ratio
    s = tilts(
        min(noise.distribution(first.rate).most_tilt, noise.distribution(second.rate).most_tilt / r)
    )
    less, more = -np.expm1(-s), np.expm1(np.minimum(r * s, 300.0))
    n, m = first.people, second.people
    # n·log(1 - vA) + m·log(1 + (v - d)B) is concave in v: its maximum solves a linear equation
    best = (m * more - n * less + n * less * more * difference) / (less * more * (n + m))
    v = np.clip(best, low, high)
    logs = n * np.log1p(-v * less) + m * np.log1p(np.maximum(v - difference, 0.0) * more)
    logs += noise.log_mgf(s, first.rate) + noise.log_mgf(r * s, second.rate)
    return bool(np.min(logs + s * (first.value - r * second.value)) <= math.log(level))


def _range(contrast: Contrast, difference: float) -> tuple[float, float]:
    low = max(contrast.p_first[0], contrast.p_second[0] + difference, difference, 0.0)
    return low, min(contrast.p_first[1], 1.0)


def _edges(contrast: Contrast, difference: float) -> Floats:
    low, high = _range(contrast, difference)
    if low > high:
        return np.empty(0)
    middle = float(np.clip(0.5 + difference / 2, low, high))
    other = float(np.clip(middle - difference, 0.0, contrast.p_second[1]))
    width = _CELL * _PARTS * contrast.spread(middle, other)
    return np.linspace(low, high, min(max(math.ceil((high - low) / width), 2), _MOST_CELLS) + 1)


@dataclass(frozen=True, slots=True)
class LeastFavourable:
    """Cell of shares that is closest to being plausible, with its probability and level."""

    probability: float
    level: float
    spread: float

    @property
    def rejected(self) -> bool:
        return self.probability <= self.level

    @property
    def missing(self) -> float:
        """The increase of the difference that a rejection needs, in a normal approximation."""
        found, wanted = np.clip([self.probability, self.level], 1e-12, 1 - 1e-12)
        return self.spread * float(special.ndtri(found) - special.ndtri(wanted))


def least_favourable(contrast: Contrast, difference: float, level: Level) -> LeastFavourable:
    """Return the least favourable cell.

    Its rejection means that no plausible pair of shares is this far apart or further.
    Cells are split only if they are not rejected as a whole, the worst cell first.
    """
    edges = _edges(contrast, difference)
    if not len(edges):
        return LeastFavourable(0.0, 1.0, contrast.spread(0.0, 0.0))
    cells = edges[:-1], edges[1:]
    excess, found = _look(contrast, difference, level, *cells)
    if found.rejected:
        return found
    for chosen in (excess == excess.max(), excess > 1):
        parts = np.linspace(cells[0][chosen], cells[1][chosen], _PARTS + 1)
        found = _look(contrast, difference, level, parts[:-1].ravel(), parts[1:].ravel())[1]
        if not found.rejected:
            break
    return found


def _look(
    contrast: Contrast, difference: float, level: Level, low: Floats, high: Floats
) -> tuple[Floats, LeastFavourable]:
    """Return probability / level of each cell, at its worst corner, and the worst cell."""
    second = np.clip(high - difference, 0.0, contrast.p_second[1])
    found = tail_upper_bound(contrast.first, contrast.second, contrast.ratio, low, second)
    allowed = level(low)
    excess = found / allowed
    at = int(np.argmax(excess))
    spread = contrast.spread(float(low[at]), float(second[at]))
    return excess, LeastFavourable(float(found[at]), float(allowed[at]), spread)
