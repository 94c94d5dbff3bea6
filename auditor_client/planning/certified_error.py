"""Certified bound on P(|EFG - FG| > alpha), the guarantee of the paper, from exact tails.

With true differences d_y of a pair's shares and FG = g >= |d_y|, EFG > FG + α means that some
measured difference exceeds α + g in size, and EFG < FG - α, possible only if g > α, that the
largest one is off by more than α. So P(|EFG - FG| > α) is at most a sum over pairs and bins of

    G(p, q) = P(|measured difference| > α + |d|)    if |d| <= α,
              P(|measured - true difference| > α)   otherwise,

and `branch_and_bound` bounds the sum for all shares. The proof is in
docs/explanation/planning.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from auditor_client.planning.branch_and_bound import (
    best_plane,
    prove_bound,
    sum_at_equal_shares,
    unit_square,
)
from auditor_client.planning.equal_groups import EqualGroups
from auditor_client.stats.noise import Floats, difference
from auditor_client.stats.share_distribution import Estimator, Lattice, lattice
from auditor_client.stats.sliding_products import shifted_products

_ROUND_OFF = 1e-10
_NARROWEST = 5e-4
# Probability that a row of masses may omit at each end; it counts as an error.
_LEFT_OUT = 1e-9
_SHARES = np.linspace(0.0, 1.0, 49)
# Number of consecutive sizes for which one proof is tried first.
_BLOCK = 8
# Rounding of shares: points of the lattice within alpha, and parts of a person for the sizes.
# Coarse values come first: they are fast and often sufficient.
_ROUNDINGS = ((24, 24), (60, 12), (150, 6))


def is_certified(alpha: float, delta: float, estimator: Estimator, people: Sequence[int]) -> bool:
    """Tell whether |EFG - FG| <= alpha is certified, up to delta, for groups of exactly these
    sizes.
    """
    for rounding in _ROUNDINGS[:1] if _whole(estimator, people) else _ROUNDINGS:
        pairs = [_pair(alpha, estimator, *sorted(two), rounding) for two in combinations(people, 2)]
        needed = [pair.needed(delta) for pair in pairs]
        if (total := sum(needed)) > delta:
            continue
        levels = [delta * part / total for part in needed]
        asked = dict(zip(pairs, levels, strict=True))
        if all(pair.certified(level) for pair, level in asked.items()):
            return True
    return False


def least_certified(
    alpha: float, delta: float, estimator: Estimator, groups: int, numbers: range
) -> int:
    """Return the smallest of the numbers such that it and all larger ones are certified; return
    their end if none is.

    Groups are equally large. If sizes are known, one proof may cover several numbers.
    """
    pairs = groups * (groups - 1) // 2

    def held(fewest: int, most: int) -> bool:
        if not estimator.exact:
            return fewest == most and is_certified(alpha, delta, estimator, [most] * groups)
        pair = _equal_groups(alpha, estimator, fewest, most)
        return pair.needed(delta / pairs) <= delta / pairs and pair.certified(delta / pairs)

    block, least = (_BLOCK if estimator.exact else 1), numbers.stop
    while least > numbers.start:
        fewest = max(least - block, numbers.start)
        found = _least(held, fewest, least - 1)
        if found > fewest:
            return found
        least = fewest
    return least


def _least(held: Callable[[int, int], bool], fewest: int, most: int) -> int:
    """Return the smallest number from which all up to `most` hold; return `most` plus one if none
    does.
    """
    if held(fewest, most):
        return fewest
    if fewest == most:
        return most + 1
    middle = (fewest + most + 1) // 2
    found = _least(held, middle, most)
    return _least(held, fewest, middle - 1) if found == middle else found


@dataclass(frozen=True, eq=False)
class Pair:
    """Two groups, the smaller one first; shares are lattices, rounded up and down."""

    alpha: float
    bins: int
    people: tuple[int, int]
    width: float
    up: tuple[Lattice, Lattice]
    down: tuple[Lattice, Lattice]

    def needed(self, level: float) -> float:
        """Return the level that errors at equal shares alone would use, if it is near `level`."""
        return sum_at_equal_shares(self._at_equal_shares, _SHARES, 4 * level, self.bins)

    def certified(self, level: float) -> bool:
        plane, room = best_plane(self._at_equal_shares, _SHARES, level, self.bins)
        cover = unit_square(symmetric=self._symmetric)
        return room >= 1 and prove_bound(self.error, plane.at, cover, _NARROWEST)

    @property
    def _symmetric(self) -> bool:
        return self.people[0] == self.people[1]

    @cached_property
    def _at_equal_shares(self) -> Floats:
        return self.error(_SHARES, _SHARES, 0.0)

    def error(self, p: Floats, q: Floats, width: float) -> Floats:
        """Return a bound of G on each box [p, p + width] x [q, q + width]."""
        high_p, high_q = np.minimum(p + width, 1), np.minimum(q + width, 1)
        least = np.maximum(np.maximum(p - high_q, q - high_p), 0.0)
        far = np.maximum(high_p - q, high_q - p) > self.alpha
        bar_p = self.alpha + np.where(far, p - high_q, least)
        bar_q = self.alpha + np.where(far, q - high_p, least)
        if self._symmetric:  # compute both at once, which is faster
            sides = zip((high_p, q, bar_p), (high_q, p, bar_q), strict=True)
            one, two = np.split(self._exceeds(0, *map(np.concatenate, sides)), 2)
        else:
            one, two = self._exceeds(0, high_p, q, bar_p), self._exceeds(1, high_q, p, bar_q)
        return np.minimum(one + two + _ROUND_OFF, 2.0)

    def _exceeds(self, which: int, p: Floats, q: Floats, bar: Floats) -> Floats:
        """Return P(share of group `which` - share of the other > bar), which is largest at these
        corners.
        """
        more, less = self.up[which], self.down[1 - which]
        shares, row = np.unique(p, return_inverse=True)
        masses, rest = more.given(self.people[which], shares)
        tails = np.cumsum(masses[:, ::-1], axis=1)[:, ::-1]
        others, other = np.unique(q, return_inverse=True)
        start, masses = _window(less.given(self.people[1 - which], others)[0])
        left = np.maximum(1.0 - masses.sum(axis=1), 0.0)
        least = np.floor(bar / self.width + 1e-9).astype(np.int64) + 1 + start[other]
        # Below the lattice a tail is one, above it is zero.
        wide = masses.shape[1]
        tails = np.pad(tails, ((0, 0), (wide, 0)), mode="edge")
        tails = np.pad(tails, ((0, 0), (0, wide)))
        shift = np.clip(least + wide, 0, tails.shape[1] - wide)
        found = shifted_products(masses, other, tails, row, shift)
        return np.asarray(found + rest[row] + left[other])


def _window(masses: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the part of each row that holds nearly all of its mass: its start and its masses."""
    sums = np.cumsum(masses, axis=1)
    start = (sums < _LEFT_OUT).sum(axis=1)
    length = int(((sums <= sums[:, -1:] - _LEFT_OUT).sum(axis=1) - start).max()) + 1
    start = np.minimum(start, masses.shape[1] - length)
    return start, np.take_along_axis(masses, start[:, None] + np.arange(length), axis=1)


def _whole(estimator: Estimator, people: Sequence[int]) -> bool:
    """Tell whether all measured shares are multiples of 1/people."""
    return estimator.exact and len(set(people)) == 1


def _equal_groups(alpha: float, estimator: Estimator, fewest: int, people: int) -> EqualGroups:
    both = difference(estimator.rate, estimator.rate)
    return EqualGroups(alpha, estimator.bins, people, both, fewest)


# The cache is small because each entry holds its rows of masses, some megabytes.
@lru_cache(maxsize=16)
def _pair(
    alpha: float, estimator: Estimator, fewer: int, more: int, rounding: tuple[int, int]
) -> Pair | EqualGroups:
    if _whole(estimator, (fewer, more)):
        return _equal_groups(alpha, estimator, more, more)
    fine, coarse = rounding
    width = alpha / fine
    up, down = (
        {n: lattice(estimator, n, width, up=side, coarse=coarse) for n in {fewer, more}}
        for side in (True, False)
    )
    return Pair(
        alpha,
        estimator.bins,
        (fewer, more),
        width,
        (up[fewer], up[more]),
        (down[fewer], down[more]),
    )
