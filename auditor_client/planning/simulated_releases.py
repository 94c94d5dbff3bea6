"""Releases of many simulated audits at once: noisy counts and known sizes."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.fairness.gap_bounds import one_sided_delta
from auditor_client.planning.power_simulation import AuditDesign
from auditor_client.stats import noise
from auditor_client.stats.group_size import PARTS, GroupSizeEstimate
from auditor_client.stats.noise import Floats, Integers, Noise

AUDITS = 600
_MOST_COUNTS = 4_000_000
_SEED = 20230401
_MOST_CELLS = 6


@dataclass(frozen=True, eq=False, slots=True)
class Releases:
    """Counts of all bins, of those with and without people, and sizes, by audit and group."""

    counts: Floats
    filled: Floats
    empty: Floats
    low: Floats
    high: Floats
    stated: Floats
    missing: Floats
    silent: NDArray[np.bool_]

    def cells(self, first: int, second: int, ratio: Floats, sign: int) -> tuple[Floats, Floats]:
        """Return counts of the relevant bins: those where `first` has most, or least, relative to
        `second`.
        """
        found = [
            _extremes(counts[:, first], counts[:, second], ratio[:, None], sign, most)
            for counts, most in ((self.filled, _MOST_CELLS), (self.empty, 1))
        ]
        return np.hstack([one for one, _ in found]), np.hstack([other for _, other in found])


def _extremes(
    ones: Floats, others: Floats, ratio: Floats, sign: int, most: int
) -> tuple[Floats, Floats]:
    if ones.shape[1] <= most:
        return ones, others
    apart = sign * (ratio * others - ones)
    at = apart.argmin(axis=1)[:, None] if most == 1 else apart.argpartition(most - 1)[:, :most]
    return np.take_along_axis(ones, at, axis=1), np.take_along_axis(others, at, axis=1)


def draw(design: AuditDesign, people: int, gap: float, size_level: float) -> Releases:
    """Draw releases with this number of people in the smallest group; limits of sizes miss with
    probability at most `size_level`.
    """
    shares, sizes = design.shares(gap), design.sizes_of_groups(people)
    noises, bought = _noises(
        design.distribution, design.size_distribution, design.groups, design.bins
    )
    counts = noises + _people(design, people, gap, len(noises))
    filled = shares.max(axis=0) > 0
    totals = sizes + noises.sum(axis=2)
    low, high, stated = _sizes(design, sizes, totals, sizes + bought, size_level)
    missing = _missing(design, stated, totals)
    nobody = totals < noise.sum_quantile(
        ((design.bins, design.distribution, 1),), one_sided_delta(design.delta)
    )
    silent = ((low < 1) | (nobody & (missing > 0))).any(axis=1)
    low = np.maximum(low, 1.0)
    return Releases(
        counts,
        counts[:, :, filled],
        counts[:, :, ~filled],
        low,
        np.maximum(high, low),
        stated,
        missing,
        silent,
    )


def groups_of(design: AuditDesign, drawn: Releases, people: int, number: int) -> list[GroupCounts]:
    """Return one of the releases in the form of `gap_bounds`."""
    groups = []
    for i in range(design.groups):
        table = tuple(int(count) for count in drawn.counts[number, i])
        noisy = design.sizes == "noisy" and not design.exact
        size = GroupSizeEstimate(
            sum(table),
            design.bins,
            design.distribution,
            int(design.sizes_of_groups(people)[i]) if design.exact else None,
            int(drawn.stated[number, i]) if noisy else None,
            design.size_distribution,
        )
        groups.append(GroupCounts(table, size, design.distribution))
    return groups


def _sizes(
    design: AuditDesign, people: Integers, totals: Floats, bought: Floats, level: float
) -> tuple[Floats, Floats, Floats]:
    """Return limits of the sizes, and the numbers that determine the ratio, as in
    `GroupSizeEstimate`.
    """
    if design.exact:
        same = np.broadcast_to(people.astype(np.float64), totals.shape)
        return same, same, same
    noisy = 0 if design.sizes == "noisy" else None
    terms = GroupSizeEstimate(
        0, design.bins, design.distribution, None, noisy, design.size_distribution
    ).terms
    own = terms[0][2]
    value = own * totals + (PARTS - own) * bought
    reach = noise.sum_quantile(terms, level) - 1
    stated = np.maximum(bought if design.sizes == "noisy" else totals, 1.0)
    return np.ceil((value - reach) / PARTS), np.floor((value + reach) / PARTS), stated


def _missing(design: AuditDesign, stated: Floats, totals: Floats) -> Floats:
    if design.sizes == "estimated" and not design.exact:
        return np.zeros_like(totals)
    law = noise.NoNoise() if design.exact else design.size_distribution
    terms = (design.bins, design.distribution, 1), (1, law, 1)
    reach = noise.sum_quantile(terms, one_sided_delta(design.delta))
    return np.clip((stated - totals - (reach - 1)) / stated, 0.0, 1.0)


@lru_cache(maxsize=2)
def _people(design: AuditDesign, people: int, gap: float, audits: int) -> Floats:
    """Draw the people of each bin, by audit and group: bins and thresholds judge the same ones."""
    generator = np.random.default_rng(_SEED + 1)
    counts = np.zeros((audits, design.groups, design.bins))
    for group, size in enumerate(design.sizes_of_groups(people)):
        row = design.shares(gap)[group]
        used = np.flatnonzero(row)
        counts[:, group, used] = generator.multinomial(size, row[used], audits)
    return counts


@lru_cache(maxsize=4)
def _noises(law: Noise, size_law: Noise, groups: int, bins: int) -> tuple[Floats, Floats]:
    """Return the noises of all bins and of bought sizes: the same whatever the number of people."""
    generator = np.random.default_rng(_SEED)
    audits = max(min(AUDITS, _MOST_COUNTS // (groups * bins)), 100)
    of_bins = law.simulated(generator, audits * groups * bins)
    of_sizes = size_law.simulated(generator, audits * groups)
    return (
        of_bins.reshape(audits, groups, bins).astype(np.float64),
        of_sizes.reshape(audits, groups).astype(np.float64),
    )
