"""Limits for the difference of two shares if the numbers of people are private.

An event has C = X + Z people in its cells and R in the rest, X binomial with share p of n people
and Z noise. At the true share, C - p(C + R) has mean zero for every n: n affects only the variance.
The share of each group lies in one cell of a fixed grid, and each pair of cells has its own test.
So the noise has no influence on which test a pair of shares gets.

`lowest_law` bounds the distribution of X - np over all n between two limits; the proof is in
docs/explanation/intervals.md. Rounding always makes the limit larger.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from auditor_client.stats import chernoff
from auditor_client.stats.noise import Floats, Noise, sum_of_draws

# Part of a level for the plausible shares.
_SHARES = 0.02
# Width of a cell of the grid, in standard deviations of a measured share at one half.
_CELL = 0.04
# Steps per standard deviation of the lattice of people for tabulated distributions.
_STEPS = 80.0
_FINEST = 0.125
_DEVIATIONS = 7.5
# Covers round-off, and the mass that the tables of noise omit.
_REST = 1e-9
_TILTS = 24


@dataclass(frozen=True, slots=True)
class Event:
    """Noisy counts inside and outside an event, their numbers of cells, and limits of n."""

    inside: int
    outside: int
    cells: tuple[int, int]
    people: tuple[int, int]
    noise: Noise

    @property
    def total(self) -> int:
        return self.inside + self.outside

    @property
    def turned(self) -> "Event":
        """The complement of this event."""
        return Event(self.outside, self.inside, self.cells[::-1], self.people, self.noise)

    def shares(self, level: float) -> tuple[float, float]:
        """Return limits of the share, each missed with probability at most `level`."""
        own = sum_of_draws(self.noise, self.cells[0])
        return chernoff.limits((self.inside,), self.people, own, level)[0]


class _Law:
    """Masses at (start + j)·step, and their running sums."""

    def __init__(self, start: int, step: float, masses: Floats) -> None:
        self.start, self.step, self.masses = start, step, masses
        self.sums = np.concatenate([[0.0], np.cumsum(masses)])


def difference_limit(
    first: Event, second: Event, ratio: float, level: float, floor: float = -1.0
) -> float:
    """Return a difference that p_first - p_second exceeds with probability at most `level`.

    `ratio` weights the second group; it may not depend on the counts. The search stops at
    `floor`.
    """
    if min(*first.people, *second.people) < 1:
        return 1.0
    most, least = (_grid(first, second, at) for at in (0, 1))
    for grid in range(least, most + 1):
        floor = _limit(first, second, ratio, level, 2.0**grid, floor)
    return floor


def exceeds(first: Event, second: Event, ratio: float, level: float, floor: float) -> bool:
    """Return whether `difference_limit` is larger than `floor`, without searching for it."""
    if min(*first.people, *second.people) < 1:
        return floor < 1
    most, least = (_grid(first, second, at) for at in (0, 1))
    return any(
        _limit(first, second, ratio, level, 2.0**grid, floor, any_above=True) > floor
        for grid in range(least, most + 1)
    )


def _grid(first: Event, second: Event, at: int) -> int:
    """Return the width of a cell as a power of two; it depends on numbers of people and noise."""
    spread = min(_spread_at_one_half(event, event.people[at]) for event in (first, second))
    return round(math.log2(_CELL * spread))


def _spread_at_one_half(event: Event, people: int) -> float:
    noises = sum(event.cells) * event.noise.variance
    return math.sqrt(people + noises) / 2 / people


def _limit(
    first: Event,
    second: Event,
    ratio: float,
    level: float,
    step: float,
    floor: float,
    *,
    any_above: bool = False,
) -> float:
    """Return the limit on one grid, at least `floor`; with `any_above`, any value above it."""
    box = first.shares(level * _SHARES / 4), second.shares(level * _SHARES / 4)
    level *= 1 - _SHARES
    # A pair of cells is tested at the lower end of the first and at the upper end of the second.
    i = np.arange(math.floor(box[0][0] / step), math.floor(min(box[0][1], 1 - 1e-12) / step) + 1)
    k = np.arange(math.floor(box[1][0] / step), math.floor(min(box[1][1], 1 - 1e-12) / step) + 1)
    # No share is plausible where noise alone would have to explain the count: all are ruled out.
    if not len(k):
        return floor
    # Only differences above the floor are searched.
    i = i[(i + 1 - k[0]) * step > floor]
    if not len(i):
        return floor
    k = k[(i[-1] + 1 - k) * step > floor]
    u = np.asarray(i * step, np.float64)
    w = np.asarray(np.minimum((k + 1) * step, 1.0), np.float64)
    own = np.asarray(first.inside - u * first.total, np.float64)
    # -(C - w(C + R)) of the second group equals its complement's value at 1 - w.
    theirs = np.asarray(ratio * (second.outside - (1 - w) * second.total), np.float64)
    apart = i[:, None] + 1 - k[None, :]
    open_ = ~_rejected_by_chernoff(first, second.turned, ratio, u, 1 - w, own, theirs, level)
    open_ &= apart * step > floor
    tried = sorted(set(apart[open_].tolist()), reverse=not any_above)
    found = _first_open(first, second, ratio, (u, w, own, theirs), apart, open_, level, tried)
    return floor if found is None else max(floor, min(found * step, 1.0))


def _first_open(
    first: Event,
    second: Event,
    ratio: float,
    at: tuple[Floats, Floats, Floats, Floats],
    apart: NDArray[np.int64],
    open_: NDArray[np.bool_],
    level: float,
    tried: Sequence[int],
) -> int | None:
    """Return the first difference with a pair of cells that its exact test does not reject."""
    u, w, own, theirs = at
    spread = math.hypot(_deviation(first), ratio * _deviation(second))
    fine = max(_FINEST, spread / _STEPS)
    for difference in tried:
        rows, columns = np.nonzero(open_ & (apart == difference))
        # Try the least extreme pairs first: one that is not rejected decides.
        order = np.argsort(-(own[rows] + theirs[columns]))
        for one, other in zip(rows[order], columns[order], strict=True):
            law = _lowest_law_of(first, float(u[one]), fine)
            opposite = _lowest_law_of(second.turned, float(1 - w[other]), fine)
            found = _below(law, opposite, ratio, float(own[one] + theirs[other]))
            if found > level:
                return difference
    return None


def _deviation(event: Event) -> float:
    share = min(max(event.inside / max(event.total, 1), 0.02), 0.98)
    noises = sum(event.cells) * event.noise.variance / 4
    return math.sqrt(max(event.people[1], 1) * share * (1 - share) + noises)


def _below(law: _Law, other: _Law, ratio: float, value: float) -> float:
    """Return P(A + ratio·B <= value)."""
    points = (other.start + np.arange(len(other.masses))) * other.step
    index = np.floor((value - ratio * points) / law.step + 1e-7).astype(np.int64) - law.start
    return float(other.masses @ law.sums[np.clip(index + 1, 0, len(law.masses))]) + _REST


def _lowest_law_of(event: Event, share: float, step: float) -> _Law:
    return lowest_law(share, event.people, event.cells, event.noise, step)


@lru_cache(maxsize=4096)
def lowest_law(
    share: float, people: tuple[int, int], cells: tuple[int, int], noise: Noise, step: float
) -> _Law:
    """Return a distribution stochastically at most that of X - n·share and its noise, for every n
    within limits.
    """
    law = _centred_people(share, people, step)
    for count, weight in zip(cells, (1 - share, share), strict=True):
        law = _plus(law, _scaled(sum_of_draws(noise, count), weight, step))
    return law


def _centred_people(share: float, people: tuple[int, int], step: float) -> _Law:
    """For G(y) = P(X <= y + n·share), made linear between whole numbers, of n people:

    G grows with n for y <= -1 and falls with n for y >= 0   (docs/explanation/intervals.md)
    """
    half = math.ceil((_DEVIATIONS * math.sqrt(people[1] * share * (1 - share)) + 3) / step)
    steps = np.arange(-half, half + 1)
    y = np.asarray(steps * step, np.float64)
    fewest, most = (_linear(y, n, share) for n in people)
    middle = float(_linear(np.zeros(1), people[0], share)[0])
    sums = np.where(y <= -1, most, np.where(y >= 0, fewest, middle))
    sums = np.maximum.accumulate(sums)
    # Mass between two points moves to the lower one; mass above all points moves to the last.
    masses = np.append(np.diff(sums), 1 - sums[-1])
    masses[0] += sums[0]
    return _Law(-half, step, masses)


def _linear(y: Floats, people: int, share: float) -> Floats:
    at = y + people * share
    whole = np.floor(at).astype(np.int64)
    low, high = max(int(whole[0]), 0), min(int(whole[-1]) + 1, people - 1)
    table = special.bdtr(np.arange(low, max(high, low) + 1), people, share)
    under, over = (
        np.where(k < 0, 0.0, np.where(k >= people, 1.0, table[np.clip(k - low, 0, len(table) - 1)]))
        for k in (whole, whole + 1)
    )
    return np.asarray(under + (at - whole) * (over - under))


@lru_cache(maxsize=4096)
def _scaled(noise: Noise, weight: float, step: float) -> _Law:
    """Return the distribution of weight·Z, rounded down."""
    ks = np.arange(-noise.reach, noise.reach + 1)
    masses = np.maximum(noise.mass(ks), 0.0)
    steps = np.floor(ks * weight / step + 1e-9).astype(np.int64)
    start = int(steps[0])
    return _Law(start, step, np.asarray(np.bincount(steps - start, weights=masses), np.float64))


def _plus(one: _Law, other: _Law) -> _Law:
    return _Law(one.start + other.start, one.step, np.convolve(one.masses, other.masses))


def _rejected_by_chernoff(
    first: Event,
    second: Event,
    ratio: float,
    u: Floats,
    v: Floats,
    own: Floats,
    theirs: Floats,
    level: float,
) -> NDArray[np.bool_]:
    """Return whether Chernoff's bound rejects each pair of cells: u of the first, v of the second's
    complement.
    """
    most = min(first.noise.most_tilt, second.noise.most_tilt / max(ratio, 1e-9), 30.0)
    tilts = np.geomspace(1e-3, 0.95 * most, _TILTS)
    logs = np.full((len(u), len(v)), np.inf)
    for s in tilts:
        ours = _moment(first, u, s) + s * own
        others = _moment(second, v, ratio * s) + s * theirs
        np.minimum(logs, ours[:, None] + others[None, :], out=logs)
    return np.asarray(logs <= math.log(level))


def _moment(event: Event, share: Floats, s: float) -> Floats:
    """Return log E exp(-s(X - np + noise)), which grows with n."""
    people = event.people[1] * (np.log1p(share * math.expm1(-s)) + s * share)
    inside, outside = event.cells
    noises = inside * event.noise.log_mgf((1 - share) * s) + outside * event.noise.log_mgf(
        share * s
    )
    return np.asarray(people + noises)
