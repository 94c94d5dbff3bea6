"""Branch and bound: a proof by boxes that a function of two shares is below a plane everywhere.

A sum over bins, Σ_y G(p_y, q_y), where the shares of each group add up to at most one, is for every
λ >= 0 at most λ + bins · max over p, q of (G(p, q) - λ (p + q)/2): Lagrange's bound of a linear
programme. So Σ_y G <= level follows from G(p, q) <= (level - λ)/bins + λ (p + q)/2 for all p and q,
which `certified` proves: it covers all p and q by boxes, compares a bound of G on each box with the
plane at its lowest corner, and splits boxes in four until all of them pass.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auditor_client.stats.noise import Floats

# Bound of G on the boxes of a cover, by their lower corners; G itself if the width is zero.
Bound = Callable[[Floats, Floats, float], Floats]
# The smallest allowed value in a box, by its lower corner.
Allowed = Callable[[Floats, Floats], Floats]

_SIDE = 16
_MOST_BOXES = 10_000
_LAMBDAS = 64


@dataclass(frozen=True, slots=True)
class Plane:
    """Bound of G(p, q): base + slope·(p + q)/2."""

    base: float
    slope: float

    def at(self, p: Floats, q: Floats) -> Floats:
        return np.asarray(self.base + self.slope * (p + q) / 2)


def best_plane(values: Floats, shares: Floats, level: float, bins: int) -> tuple[Plane, float]:
    """Return the λ with the most slack for these values of G(share, share), and that slack.

    The slack is the smallest ratio of the allowed value to G. Below one, no λ is possible.
    """
    slopes = level * np.linspace(0, 1, _LAMBDAS)[:, None]
    allowed = (level - slopes) / bins + slopes * shares
    room = (allowed / np.maximum(values, 1e-300)).min(axis=1)
    best = int(np.argmax(room))
    slope = float(slopes[best, 0])
    return Plane((level - slope) / bins, slope), float(room[best])


def sum_at_equal_shares(values: Floats, shares: Floats, most: float, bins: int) -> float:
    """Return the bound of Σ_y G if G were largest at equal shares, with these values there; λ <=
    most.
    """
    slopes = most * np.linspace(0, 1, 4 * _LAMBDAS)[:, None]
    return float((slopes[:, 0] + bins * (values - slopes * shares).max(axis=1)).min())


@dataclass(frozen=True, slots=True)
class Cover:
    """Boxes [x, x + width] x [y, y + stretch·width] that cover all relevant shares.

    `matters` selects the relevant boxes by their lower corners. `probe` is the position along x, as
    a part of the width, at which G itself is computed.
    """

    x: Floats
    y: Floats
    width: float
    stretch: float
    matters: Callable[[Floats, Floats], NDArray[np.bool_]]
    probe: float = 0.0

    def inside(self) -> "Cover":
        """Return only the relevant boxes."""
        return self.only(self.matters(self.x, self.y))

    def only(self, wanted: NDArray[np.bool_]) -> "Cover":
        return replace(self, x=self.x[wanted], y=self.y[wanted])

    def quartered(self) -> "Cover":
        x, y, width = self.x, self.y, self.width / 2
        more, high = x + width, y + width * self.stretch
        x, y = np.concatenate([x, more, x, more]), np.concatenate([y, y, high, high])
        return replace(self, x=x, y=y, width=width).inside()


def unit_square(*, symmetric: bool) -> Cover:
    """Return boxes over the shares of two groups; half of them are enough if G(p, q) = G(q, p)."""
    steps = np.arange(_SIDE) / _SIDE
    p, q = (grid.ravel() for grid in np.meshgrid(steps, steps))
    matters = np.greater_equal if symmetric else lambda p, _: np.ones_like(p, dtype=bool)
    return Cover(p, q, 1 / _SIDE, 1.0, matters).inside()


def prove_bound(bound: Bound, allowed: Allowed, cover: Cover, narrowest: float) -> bool:
    """Tell whether G is proved never to exceed the allowed value."""
    while len(cover.x):
        found = bound(cover.x, cover.y, cover.width)
        cover = cover.only(found > allowed(cover.x, cover.y))
        if (
            cover.width / 2 < narrowest
            or 4 * len(cover.x) > _MOST_BOXES
            or _hopeless(bound, allowed, cover)
        ):
            return not len(cover.x)
        cover = cover.quartered()
    return True


def _hopeless(bound: Bound, allowed: Allowed, cover: Cover) -> bool:
    """Tell whether G itself exceeds the allowed value somewhere: then finer boxes cannot help."""
    x, y = cover.x + cover.probe * cover.width, cover.y
    return bool(len(x)) and bool((bound(x, y, 0.0) > allowed(x, y)).any())
