"""Calibration: the least noise for which OpenDP itself vouches for the price.

OpenDP's privacy maps round outwards. A scale is accepted only when the map, as an exact rational,
is within the exact price: what is charged is never less than what is spent.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from opendp.domains import atom_domain, vector_domain
from opendp.mod import enable_features

# Not opendp.prelude: that imports scikit-learn and pandas too, for seconds.
enable_features("contrib")


def calibrated(
    least: float, make: Callable[[float], Any], within_price: Callable[[Any], bool]
) -> tuple[float, Any]:
    """The first scale from `least` upwards, and its mechanism, that OpenDP says is within price."""
    scale = least
    while not within_price(mechanism := make(scale)):
        scale = math.nextafter(scale, math.inf)
    return scale, mechanism


def at_least(value: Fraction) -> float:
    """The least double that is not below the value."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def root_at_least(value: Fraction) -> float:
    """A double that is not below the square root of the value, and hardly above it."""
    root = math.sqrt(value)
    while Fraction(root) ** 2 < value:
        root = math.nextafter(root, math.inf)
    return root


def integers() -> Any:
    """The domain of all our tables."""
    return vector_domain(atom_domain(T="i64"))
