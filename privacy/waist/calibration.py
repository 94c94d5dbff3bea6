"""Calibration: the least noise for which OpenDP itself vouches for the price.

OpenDP's privacy maps round outwards. A scale is accepted only when the map, as an exact rational,
is within the exact price: what is charged is never less than what is spent.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

from opendp.domains import atom_domain, vector_domain
from opendp.mod import enable_features

from privacy.errors import UnderpaidError

# Not opendp.prelude: that imports scikit-learn and pandas too, for seconds.
enable_features("contrib")


class Calibrated(Protocol):
    """A mechanism of ours, equal to others of the same bounds and price, made by OpenDP."""

    def __hash__(self) -> int: ...

    @property
    def least(self) -> float:
        """The scale below which nothing is within price."""

    def make(self, scale: float) -> Any:
        """OpenDP's mechanism at this scale."""

    def within_price(self, mechanism: Any) -> bool:
        """Whether OpenDP's map says that it costs no more than the price."""


@lru_cache(maxsize=4_096)
def find_scale(wanted: Calibrated) -> float:
    """Return the first scale from the least upwards that OpenDP says is within price.

    Sought once for equal mechanisms: prices are asked far more often than noise is drawn.
    """
    scale = wanted.least
    while not wanted.within_price(wanted.make(scale)):
        scale = math.nextafter(scale, math.inf)
    return scale


@lru_cache(maxsize=4_096)
def make_calibrated(wanted: Calibrated) -> Any:
    """OpenDP's mechanism at that scale, which vouches for the price; it holds no state."""
    mechanism = wanted.make(find_scale(wanted))
    if not wanted.within_price(mechanism):
        raise UnderpaidError(
            "OpenDP does not say that this is within price", case="unconfirmed-price"
        )
    return mechanism


def round_up(value: Fraction) -> float:
    """Return the least double that is not below the value."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_up_root(value: Fraction) -> float:
    """Return a double that is not below the square root of the value, and hardly above it."""
    root = math.sqrt(value)
    while Fraction(root) ** 2 < value:
        root = math.nextafter(root, math.inf)
    return root


def integer_domain() -> Any:
    """Return the domain of all our tables."""
    return vector_domain(atom_domain(T="i64"))
