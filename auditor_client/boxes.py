"""Is a function of two shares below a plane everywhere? A proof by boxes.

A sum over bins, Σ_y G(p_y, q_y), where the shares of each group add up to at most one, is for every
λ >= 0 at most λ + bins · max over p, q of (G(p, q) - λ (p + q)/2): Lagrange's bound of a linear
programme. So Σ_y G <= level follows from G(p, q) <= (level - λ)/bins + λ (p + q)/2 for all p and q,
which `certified` proves: it covers the square by boxes, compares a bound of G on each box with the
plane at its lowest corner, and cuts boxes in four until all of them pass.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from auditor_client.noise import Floats

# A bound of G on the boxes [p, p + width] x [q, q + width]; G itself if the width is zero.
Bound = Callable[[Floats, Floats, float], Floats]

_SIDE = 16
_MOST_BOXES = 10_000
_LAMBDAS = 64


@dataclass(frozen=True, slots=True)
class Plane:
    """What G(p, q) may be: base + slope·(p + q)/2."""

    base: float
    slope: float

    def at(self, p: Floats, q: Floats) -> Floats:
        return np.asarray(self.base + self.slope * (p + q) / 2)


def best_plane(values: Floats, shares: Floats, level: float, bins: int) -> tuple[Plane, float]:
    """The λ that leaves most room where G(share, share) has these values, and that room.

    A room below one means that no λ will do.
    """
    slopes = level * np.linspace(0, 1, _LAMBDAS)[:, None]
    allowed = (level - slopes) / bins + slopes * shares
    room = (allowed / np.maximum(values, 1e-300)).min(axis=1)
    best = int(np.argmax(room))
    slope = float(slopes[best, 0])
    return Plane((level - slope) / bins, slope), float(room[best])


def sum_at_equal_shares(values: Floats, shares: Floats, most: float, bins: int) -> float:
    """The bound of Σ_y G if G were largest at equal shares, with these values there; λ <= most."""
    slopes = most * np.linspace(0, 1, 4 * _LAMBDAS)[:, None]
    return float((slopes[:, 0] + bins * (values - slopes * shares).max(axis=1)).min())


def certified(bound: Bound, plane: Plane, narrowest: float, *, symmetric: bool) -> bool:
    """Whether G is proved to lie below the plane; if `symmetric`, G(p, q) = G(q, p) is used."""
    steps = np.arange(_SIDE) / _SIDE
    p, q = (grid.ravel() for grid in np.meshgrid(steps, steps))
    if symmetric:
        p, q = p[p >= q], q[p >= q]
    width = 1 / _SIDE
    while len(p):
        failing = bound(p, q, width) > plane.at(p, q)
        p, q, width = p[failing], q[failing], width / 2
        if width < narrowest or 4 * len(p) > _MOST_BOXES or _hopeless(bound, plane, p, q):
            return not len(p)
        p = np.concatenate([p, p + width, p, p + width])
        q = np.concatenate([q, q, q + width, q + width])
        if symmetric:
            p, q = p[p >= q], q[p >= q]
    return True


def _hopeless(bound: Bound, plane: Plane, p: Floats, q: Floats) -> bool:
    """Whether G itself exceeds the plane at a corner: then no finer boxes can help."""
    return bool(len(p)) and bool((bound(p, q, 0.0) > plane.at(p, q)).any())
