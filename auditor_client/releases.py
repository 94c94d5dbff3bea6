"""Releases of rehearsed audits, many at once: noisy counts and what is known of sizes."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from auditor_client import noise
from auditor_client.noise import Floats
from auditor_client.power import Design, discrete_laplace
from auditor_client.sizes import PARTS, GroupSize

AUDITS = 1000
_MOST_COUNTS = 4_000_000
_SEED = 20230401


@dataclass(frozen=True, eq=False, slots=True)
class Releases:
    """Counts of the bins with people and of those without, and sizes, by audit and group."""

    filled: Floats
    empty: Floats
    low: Floats
    high: Floats
    stated: Floats
    missing: Floats
    silent: Floats

    def cells(self, first: int, second: int, ratio: Floats) -> tuple[Floats, Floats]:
        """The counts of all bins with people, and of the one without where `first` has most."""
        ones, others = self.filled[:, first], self.filled[:, second]
        if not self.empty.shape[2]:
            return ones, others
        more, less = self.empty[:, first], self.empty[:, second]
        at = np.argmax(more - ratio[:, None] * less, axis=1)[:, None]
        one, other = (np.take_along_axis(counts, at, axis=1) for counts in (more, less))
        return np.hstack([ones, one]), np.hstack([others, other])


def draw(design: Design, people: int, gap: float, size_level: float) -> Releases:
    """Releases of this many people per group; limits of sizes miss in at most `size_level`."""
    shares = design.shares(gap)
    noises, bought = _noises(design.rate, design.size_rate, design.groups, design.bins)
    generator = np.random.default_rng((_SEED, people))
    drawn = [generator.multinomial(people, row[row > 0], len(noises)) for row in shares]
    used = [np.flatnonzero(row) for row in shares]
    counts = noises.copy()
    for group, (columns, found) in enumerate(zip(used, drawn, strict=True)):
        counts[:, group, columns] += found
    filled = shares.max(axis=0) > 0
    totals = people + noises.sum(axis=2)
    low, high, stated = _sizes(design, people, totals, people + bought, size_level)
    missing = _missing(design, stated, totals)
    nobody = totals < noise.sum_quantile(((design.bins, design.rate, 1),), design.delta)
    silent = ((low < 1) | (nobody & (missing > 0))).any(axis=1)
    low = np.maximum(low, 1.0)
    return Releases(
        counts[:, :, filled], counts[:, :, ~filled], low, np.maximum(high, low), stated, missing, silent
    )


def _sizes(
    design: Design, people: int, totals: Floats, bought: Floats, level: float
) -> tuple[Floats, Floats, Floats]:
    """Limits of the sizes and the numbers that set the ratio, as `sizes.GroupSize` has them."""
    if design.exact:
        same = np.full_like(totals, people)
        return same, same, same
    noisy = 0 if design.sizes == "noisy" else None
    terms = GroupSize(0, design.bins, design.rate, None, noisy, design.size_rate).terms
    own = terms[0][2]
    value = own * totals + (PARTS - own) * bought
    reach = noise.sum_quantile(terms, level) - 1
    stated = np.maximum(bought if design.sizes == "noisy" else totals, 1.0)
    return np.ceil((value - reach) / PARTS), np.floor((value + reach) / PARTS), stated


def _missing(design: Design, stated: Floats, totals: Floats) -> Floats:
    if design.sizes == "estimated" and not design.exact:
        return np.zeros_like(totals)
    rate = math.inf if design.exact else design.size_rate
    reach = noise.sum_quantile(((design.bins, design.rate, 1), (1, rate, 1)), design.delta)
    return np.clip((stated - totals - (reach - 1)) / stated, 0.0, 1.0)


@lru_cache(maxsize=4)
def _noises(rate: float, size_rate: float, groups: int, bins: int) -> tuple[Floats, Floats]:
    """The noises of all bins and of bought sizes: the same whatever the number of people."""
    generator = np.random.default_rng(_SEED)
    audits = max(min(AUDITS, _MOST_COUNTS // (groups * bins)), 100)
    of_bins = discrete_laplace(generator, rate, audits * groups * bins)
    of_sizes = discrete_laplace(generator, size_rate, audits * groups)
    return (
        of_bins.reshape(audits, groups, bins).astype(np.float64),
        of_sizes.reshape(audits, groups).astype(np.float64),
    )
