"""A certified bound on P(|EFG - FG| > alpha), the promise of the paper, from exact tails.

With true differences d_y of a pair's shares and FG = g >= |d_y|, EFG > FG + α means that some
measured difference exceeds α + g in size, and EFG < FG - α, possible only if g > α, that the
largest one is off by more than α. So P(|EFG - FG| > α) is at most a sum over pairs and bins of

    G(p, q) = P(|measured difference| > α + |d|)    if |d| <= α,
              P(|measured - true difference| > α)   otherwise,

and `boxes` bounds the sum, whatever the shares. The proof is in docs/planning.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from auditor_client.boxes import best_plane, certified, sum_at_equal_shares
from auditor_client.estimates import Estimator, Lattice, lattice
from auditor_client.noise import Floats

_ROUND_OFF = 1e-10
_NARROWEST = 5e-4
# What a row of masses may leave out at each end; it counts as an error.
_LEFT_OUT = 1e-9
_SHARES = np.linspace(0.0, 1.0, 49)
# Where shares are rounded: points of the lattice within alpha, and parts of a person for the sizes;
# first coarsely, which is quick and often enough.
_ROUNDINGS = ((24, 24), (60, 12), (150, 6))


def holds(alpha: float, delta: float, estimator: Estimator, people: Sequence[int]) -> bool:
    """Whether |EFG - FG| <= alpha is certified, up to delta, for groups of just these sizes."""
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


@dataclass(frozen=True, eq=False)
class Pair:
    """Two groups, the one with fewer people first; shares as lattices, rounded up and down."""

    alpha: float
    bins: int
    people: tuple[int, int]
    width: float
    up: tuple[Lattice, Lattice]
    down: tuple[Lattice, Lattice]

    def needed(self, level: float) -> float:
        """The level that errors at equal shares alone would take, as far as it is near `level`."""
        return sum_at_equal_shares(self._at_equal_shares, _SHARES, 4 * level, self.bins)

    def certified(self, level: float) -> bool:
        plane, room = best_plane(self._at_equal_shares, _SHARES, level, self.bins)
        return room >= 1 and certified(self.error, plane, _NARROWEST, symmetric=self._symmetric)

    @property
    def _symmetric(self) -> bool:
        return self.people[0] == self.people[1]

    @cached_property
    def _at_equal_shares(self) -> Floats:
        return self.error(_SHARES, _SHARES, 0.0)

    def error(self, p: Floats, q: Floats, width: float) -> Floats:
        """A bound of G on each box [p, p + width] x [q, q + width]."""
        high_p, high_q = np.minimum(p + width, 1), np.minimum(q + width, 1)
        least = np.maximum(np.maximum(p - high_q, q - high_p), 0.0)
        far = np.maximum(high_p - q, high_q - p) > self.alpha
        bar_p = self.alpha + np.where(far, p - high_q, least)
        bar_q = self.alpha + np.where(far, q - high_p, least)
        if self._symmetric:  # both at once, which is quicker
            sides = zip((high_p, q, bar_p), (high_q, p, bar_q), strict=True)
            one, two = np.split(self._exceeds(0, *map(np.concatenate, sides)), 2)
        else:
            one, two = self._exceeds(0, high_p, q, bar_p), self._exceeds(1, high_q, p, bar_q)
        return np.minimum(one + two + _ROUND_OFF, 2.0)

    def _exceeds(self, which: int, p: Floats, q: Floats, bar: Floats) -> Floats:
        """P(share of group `which` - share of the other > bar), largest at these corners."""
        more, less = self.up[which], self.down[1 - which]
        shares, row = np.unique(p, return_inverse=True)
        masses, rest = more.given(self.people[which], shares)
        tails = np.zeros((len(shares), masses.shape[1] + 1))
        tails[:, :-1] = np.cumsum(masses[:, ::-1], axis=1)[:, ::-1]
        others, other = np.unique(q, return_inverse=True)
        start, masses = _window(less.given(self.people[1 - which], others)[0])
        left = np.maximum(1.0 - masses.sum(axis=1), 0.0)
        least = np.floor(bar / self.width + 1e-9).astype(np.int64) + 1 + start[other]
        column = np.clip(least[:, None] + np.arange(masses.shape[1]), 0, tails.shape[1] - 1)
        column += (row * tails.shape[1])[:, None]
        found = np.einsum("ij,ij->i", masses[other], tails.ravel()[column])
        return np.asarray(found + rest[row] + left[other])


def _window(masses: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The part of each row that holds nearly all of it: where it starts, and its masses."""
    sums = np.cumsum(masses, axis=1)
    start = (sums < _LEFT_OUT).sum(axis=1)
    length = int(((sums <= sums[:, -1:] - _LEFT_OUT).sum(axis=1) - start).max()) + 1
    start = np.minimum(start, masses.shape[1] - length)
    return start, np.take_along_axis(masses, start[:, None] + np.arange(length), axis=1)


def _whole(estimator: Estimator, people: Sequence[int]) -> bool:
    """Whether all measured shares are multiples of 1/people."""
    return estimator.exact and len(set(people)) == 1


# Few: each keeps its rows of masses, some megabytes.
@lru_cache(maxsize=16)
def _pair(
    alpha: float, estimator: Estimator, fewer: int, more: int, rounding: tuple[int, int]
) -> Pair:
    fine, coarse = rounding
    width = 1 / more if _whole(estimator, (fewer, more)) else alpha / fine
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
