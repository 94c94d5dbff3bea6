"""A certified bound on P(|EFG - FG| > alpha), the promise of the paper, from exact tails.

|EFG - FG| is at most the largest error of a difference of two shares, over pairs of groups and
bins. Per pair, G(p, q) being the probability that one bin's error exceeds alpha, for every λ >= 0

    Σ_y G(p_y, q_y) <= λ + bins · max over p, q of (G(p, q) - λ (p + q)/2),

since the shares of a group add up to one. `holds` therefore asks whether, for some λ, every p and q
have G(p, q) <= (level - λ)/bins + λ (p + q)/2. It covers the square by boxes, bounds G on a box by
its worst corner, and cuts boxes in four until they pass. The proof is in docs/intervals.md.
"""

from dataclasses import dataclass

import numpy as np

from auditor_client import noise
from auditor_client.noise import Floats
from auditor_client.sizes import PARTS, GroupSize
from auditor_client.tails import Count, below_line

_LAMBDAS = 51
_SIDE = 32
_MOST_BOXES = 12_000
_SIZES = 0.2


@dataclass(frozen=True, slots=True)
class Promise:
    """|EFG - FG| <= alpha with probability 1 - delta, in an audit with equal groups.

    `size` says how the numbers of people will be known; its own values do not matter.
    """

    alpha: float
    delta: float
    groups: int
    bins: int
    rate: float
    size: GroupSize

    def holds(self, people: int) -> bool:
        """Whether the promise is certified for groups of this many people."""
        level, off = self.delta, 0
        if self.size.kind != "known":
            # Each group's number is off by more than `off`, up or down, in at most this share.
            level, size_level = level * (1 - _SIZES), level * _SIZES / (2 * self.groups)
            off = (noise.sum_quantile(self.size.terms, size_level) - 1) // PARTS + 1
        if off >= people:
            return False
        pairs = self.groups * (self.groups - 1) // 2
        slope, base = self._multiplier(people, off, level / pairs)
        return slope >= 0 and self._certified(people, off, slope, base)

    def _multiplier(self, people: int, off: int, level: float) -> tuple[float, float]:
        """The λ that leaves most room at a few shares; negative where none leaves any."""
        p, q = _half_square(_SIDE)
        error = self._error(people, off, p, q, 0.0)
        slopes = level * np.linspace(0, 1, _LAMBDAS)
        bases = (level - slopes) / self.bins
        allowed = bases[:, None] + slopes[:, None] * (p + q) / 2
        room = (allowed / error).min(axis=1)
        best = int(np.argmax(room))
        return (float(slopes[best]), float(bases[best])) if room[best] > 1 else (-1.0, 0.0)

    def _certified(self, people: int, off: int, slope: float, base: float) -> bool:
        p, q = _half_square(_SIDE)
        if off == 0:
            # G(p, q) = G(1 - q, 1 - p), and the one with the smaller shares is allowed less.
            p, q = p[p + q < 1], q[p + q < 1]
        width = 1 / _SIDE
        while len(p):
            failing = self._error(people, off, p, q, width) > base + slope * (p + q) / 2
            p, q, width = p[failing], q[failing], width / 2
            if len(p) and (width < self.alpha / 200 or 4 * len(p) > _MOST_BOXES):
                return False
            p = np.concatenate([p, p + width, p, p + width])
            q = np.concatenate([q, q, q + width, q + width])
        return True

    def _error(self, people: int, off: int, p: Floats, q: Floats, width: float) -> Floats:
        """A bound of G on each box [p, p + width] x [q, q + width]."""
        high_p, high_q = np.minimum(p + width, 1), np.minimum(q + width, 1)
        count = Count(0, people, self.rate)
        # One group's share too large against the other's, at the corner that favours it; twice.
        one = below_line(count, count, q, high_p, _line(people, off, p - high_q + self.alpha))
        two = below_line(count, count, p, high_q, _line(people, off, q - high_p + self.alpha))
        return one + two


def _half_square(side: int) -> tuple[Floats, Floats]:
    """Lower corners of the boxes with p >= q: G(p, q) = G(q, p), so the rest is the same."""
    p, q = np.meshgrid(np.arange(side) / side, np.arange(side) / side)
    return p[p >= q], q[p >= q]


class _line:  # noqa: N801 - a function with its parameters
    """The largest first count for which second/n_s - first/n_f >= bar, sizes off by `off`."""

    def __init__(self, people: int, off: int, bar: Floats) -> None:
        self.fewest, self.most, self.bar = people - off, people + off, bar[:, None]

    def __call__(self, second: Floats) -> Floats:
        share = second / np.where(second >= 0, self.fewest, self.most)
        room = share - self.bar
        return np.asarray(room * np.where(room >= 0, self.most, self.fewest))
