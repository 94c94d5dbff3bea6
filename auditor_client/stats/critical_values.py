"""Critical values for the penalty: distances of a normal estimate from a hypothesis.

The penalty is a length: relative utilities of penalty c are a sphere. If the errors are whitened
(equal in all directions), it is an ellipsoid, which is nearly flat locally and a point at c = 0.

Claim. Let the true value lie on an ellipsoid whose radii of curvature are all at least C, and let
the estimate's error be a standard normal vector of d = K - 1 components. Then the estimate is

- inside and further than z from the surface with probability at most P(N < -z);
- outside and further than c with probability at most P(|(T, C + N)| > C + c, N >= -z) in addition,

N standard normal and T² an independent χ² of d - 1.

Proof. Let N be the error's component along the outward normal at the true value, and T the length
of the rest. Inside: a step of -N along the normal reaches the tangent plane, which lies outside the
convex body, so the surface is nearer than -N. Outside: the ball of radius C that touches the
surface from inside at the true value lies in the body (Blaschke's rolling theorem). So the body is
no further than the ball, whose distance is |(T, C + N)| - C. ∎

For two groups there is no T, and both values are the usual z.
"""

import math
from functools import lru_cache

import numpy as np
from scipy import optimize, special

from auditor_client.stats.noise_distributions import Floats


@lru_cache(maxsize=256)
def quantile(level: float, heavy: float = 0.0) -> float:
    """Return z with P(error > z) <= level, for an error of variance 1 of which a share `heavy` is
    Laplace.

    Among sums of Laplace noises, a single one has the heaviest tail, so it represents all of
    them.
    """
    normal = float(-special.ndtri(level))
    if heavy <= 1e-9 or level >= 0.5:
        return normal
    share = min(heavy, 1.0)
    top = normal + 10 + math.log(1 / level)
    found = optimize.brentq(lambda z: _tail(z, share) - level, 0.0, top)
    return max(normal, float(found))


def _tail(z: float, heavy: float) -> float:
    """Return P(N + L > z), with N normal of variance 1 - heavy and L Laplace of variance
    `heavy`.
    """
    b = math.sqrt(heavy / 2)
    if heavy >= 1 - 1e-9:
        return 0.5 * math.exp(-z / b)
    s = math.sqrt(1 - heavy)
    # P(L + N > z) = Φ̄(z/s) + ½ e^{s²/2b²} [e^{-z/b} Φ(z/s - s/b) - e^{z/b} Φ̄(z/s + s/b)]
    right = special.log_ndtr(z / s - s / b) - z / b + s**2 / (2 * b**2)
    left = special.log_ndtr(-z / s - s / b) + z / b + s**2 / (2 * b**2)
    return float(special.ndtr(-z / s) + 0.5 * (math.exp(right) - math.exp(left)))


@lru_cache(maxsize=4096)
def outward_quantile(groups: int, radius: float, delta: float) -> float:
    """Return the c of the claim above that leaves delta/2 to either side, for this radius of
    curvature.
    """
    z = float(-special.ndtri(delta / 2))
    if groups == 2:
        return z
    nodes, weights = _gauss()

    def missed(c: float) -> float:
        # Beyond c everything is missed; below it T adds a part, with denser points near c.
        n = c - (c + z) * nodes**2
        mass = weights * 2 * nodes * (c + z) * np.exp(-(n**2) / 2) / math.sqrt(2 * math.pi)
        room = np.maximum((radius + c) ** 2 - (radius + n) ** 2, 0.0)
        below = float(np.sum(mass * special.chdtrc(groups - 2, room)))
        return float(special.ndtr(-c)) + below - delta / 2

    top = math.sqrt(float(special.chdtri(groups - 1, delta / 2))) + 1
    return float(optimize.brentq(missed, z - 1e-9, top, xtol=1e-6)) + 1e-6


@lru_cache(maxsize=1)
def _gauss() -> tuple[Floats, Floats]:
    """Return Gaussian nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    return (nodes + 1) / 2, weights / 2
