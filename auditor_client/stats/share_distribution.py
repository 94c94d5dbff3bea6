"""Distribution of a measured share: exact, or rounded to a lattice on a chosen side.

A share is measured as (X + Z)/N, with X binomial, Z the noise of the bin, and N the known number of
people: n itself, or n plus noise, part of which may be Z itself (`group_size`).
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy import special

from auditor_client.stats import noise
from auditor_client.stats.group_size import PARTS, GroupSizeEstimate
from auditor_client.stats.noise import AnyNoise, Floats, Integers, NoNoise, Term

Terms = tuple[Term, ...]

# Probability below which noise is omitted; users count the mass that a lattice omits as an error.
_REST = 1e-9
_NEGLIGIBLE = 1e-13
# Range of measured shares; those outside are omitted too.
_LEAST, _MOST = -0.4, 1.4


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimator of a group's shares, without its number of people.

    `rate` is the noise of each bin and `size_rate` that of a bought size: a distribution, or the
    rate of discrete Laplace noise.
    """

    bins: int
    rate: AnyNoise
    sizes: str
    size_rate: AnyNoise

    @property
    def exact(self) -> bool:
        """Whether sizes are known; without noise they are the sums of the bins."""
        return self.sizes == "known" or isinstance(noise.distribution(self.rate), NoNoise)

    @property
    def own(self) -> int:
        """The weight of the bins' sum in the estimate of the size, in units of 1/PARTS."""
        return 0 if self.exact else self._size.terms[0][2]

    def size_terms(self, bins: int) -> Terms:
        """Return the noises of PARTS times the estimated size from this many bins, for
        `noise.sum_quantile`.
        """
        if self.exact:
            return ()
        (_, rate, own), last = self._size.terms
        return (bins, rate, own), last

    @property
    def _size(self) -> GroupSizeEstimate:
        noisy = 0 if self.sizes == "noisy" else None
        return GroupSizeEstimate(0, self.bins, self.rate, None, noisy, self.size_rate)


@dataclass(frozen=True, eq=False, slots=True)
class Lattice:
    """Rows of masses of the measured share given X = x, in multiples of a width from `first` on."""

    first: int
    rows: Floats
    known: dict[float, Floats] = field(default_factory=dict)

    def given(self, people: int, p: Floats) -> tuple[Floats, Floats]:
        """Return a row of masses for each true share, and the mass that each omits.

        Rows are cached: boxes that are split need most of their corners again.
        """
        shares = p.tolist()
        new = [share for share in shares if share not in self.known]
        masses = binomial(people, np.array(new), np.arange(people + 1))
        self.known.update(zip(new, masses @ self.rows, strict=True))
        masses = np.array([self.known[share] for share in shares])
        return masses, np.maximum(1.0 - masses.sum(axis=1), 0.0)


def lattice(
    estimator: Estimator, people: int, width: float, *, up: bool, coarse: int = 4
) -> Lattice:
    """Return measured shares rounded up (or down) to multiples of `width`, for every X.

    Sizes are rounded to `coarse`/PARTS of a person, in the direction with the same
    effect.
    """
    errors, chances = _errors(estimator, coarse)
    reach = len(chances) // 2
    counts = np.arange(-reach, people + reach + 1)[:, None]
    # Positive shares shrink with their denominator, negative ones grow.
    raised = 0 if estimator.exact else ((counts >= 0) != up) * coarse
    shares = counts / np.maximum(people + (errors + raised) / PARTS, 1.0)
    # A share on a point of the lattice stays there, despite rounding.
    steps = np.ceil(shares / width - 1e-9) if up else np.floor(shares / width + 1e-9)
    return _collect(steps, chances, math.floor(_LEAST / width), math.ceil(_MOST / width))


def _collect(steps: Floats, chances: Floats, first: int, last: int) -> Lattice:
    """Return masses of the steps from `first` to `last`, from those of each count and size."""
    # One column on either side receives the mass beyond.
    columns = last - first + 3
    inside = np.clip(steps - first + 1, 0, columns - 1).astype(np.int64)
    rows = len(steps) - len(chances) + 1
    start, masses = columns * np.arange(rows)[:, None], np.zeros(rows * columns)
    for z, chance in enumerate(chances):
        likely = chance > _NEGLIGIBLE
        flat = start + inside[z : z + rows, likely]
        masses += np.bincount(flat.ravel(), np.tile(chance[likely], rows), minlength=len(masses))
    return Lattice(first, masses.reshape(rows, columns)[:, 1:-1].copy())


@lru_cache(maxsize=8)
def _errors(estimator: Estimator, coarse: int) -> tuple[Floats, Floats]:
    """Return errors of the size, in parts, rounded down to `coarse`, as rows of masses for each
    noise.

    Noise of the bin runs from -reach to reach. A row holds P(Z = z, error), because the error
    includes a part of Z; known sizes have the error 0.
    """
    reach = noise.sum_quantile(((1, estimator.rate, 1),), _REST) - 1
    z = np.arange(-reach, reach + 1)
    chance = noise.mass(z, estimator.rate)[:, None]
    if estimator.exact:
        return np.zeros(1), chance
    masses = _size_masses(estimator.size_terms(estimator.bins - 1))
    middle, shift = len(masses) // 2, estimator.own * z
    edge = -(-(middle + int(shift.max(initial=0)) + 1) // coarse) * coarse
    rows = np.zeros((len(z), 2 * edge))
    columns = edge - middle + shift[:, None] + np.arange(len(masses))
    np.put_along_axis(rows, columns, chance * masses, axis=1)
    return np.arange(-edge, edge, coarse).astype(np.float64), rows.reshape(len(z), -1, coarse).sum(
        axis=2
    )


def _size_masses(terms: Terms) -> Floats:
    """Return masses of a sum of weighted noises, in parts, equally far on both sides."""
    reach = noise.sum_quantile(terms, _REST)
    size = 1 << (4 * reach).bit_length()
    angle = 2 * np.pi * np.arange(size // 2 + 1) / size
    spectrum = np.ones(size // 2 + 1)
    for count, rate, weight in terms:
        spectrum *= noise.distribution(rate).wave(weight * angle) ** count
    masses = np.maximum(np.fft.irfft(spectrum, size), 0.0)
    return np.concatenate([masses[-reach:], masses[: reach + 1]])


def binomial(people: int, p: Floats, x: Integers) -> Floats:
    """Return P(X = x), with a row for each p; x is one row for all, or one for each."""
    # Logarithms are clipped at -750, where exp is 0, so p = 0 and p = 1 need no special case.
    with np.errstate(divide="ignore"):
        hit = np.maximum(np.log(p), -750.0)[:, None]
        miss = np.maximum(np.log1p(-p), -750.0)[:, None]
    return np.asarray(np.exp(_log_choices(people)[x] + x * hit + (people - x) * miss))


@lru_cache(maxsize=64)
def _log_choices(people: int) -> Floats:
    x = np.arange(people + 1)
    return np.asarray(
        special.gammaln(people + 1) - special.gammaln(x + 1) - special.gammaln(people - x + 1)
    )
