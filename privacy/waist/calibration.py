"""Calibration: the smallest noise for which OpenDP itself confirms the price.

OpenDP's privacy maps round outwards. A scale is accepted only when the map, as an exact rational,
is within the exact price: so the charge is never less than the privacy loss.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

from opendp.domains import atom_domain, vector_domain
from opendp.mod import enable_features

from privacy.errors import UnderpaidError

# opendp.prelude is avoided, because it also imports scikit-learn and pandas, which takes seconds.
enable_features("contrib")


class Calibrated(Protocol):
    """Mechanism that OpenDP makes; it equals others with the same bounds and price."""

    def __hash__(self) -> int: ...

    @property
    def least(self) -> float:
        """The scale below which no noise is within the price."""

    def make(self, scale: float) -> Any:
        """Return OpenDP's mechanism at this scale."""

    def within_price(self, mechanism: Any) -> bool:
        """Tell whether, by OpenDP's map, it costs at most the price."""


@lru_cache(maxsize=4_096)
def find_scale(wanted: Calibrated) -> float:
    """Return the first scale, from the smallest upwards, that OpenDP confirms to be within the
    price.

    The result is cached for equal mechanisms: prices are requested far more often than noise is
    drawn.
    """
    scale = wanted.least
    while not wanted.within_price(wanted.make(scale)):
        scale = math.nextafter(scale, math.inf)
    return scale


@lru_cache(maxsize=4_096)
def make_calibrated(wanted: Calibrated) -> Any:
    """Return OpenDP's mechanism at that scale, which confirms the price; it has no state."""
    mechanism = wanted.make(find_scale(wanted))
    if not wanted.within_price(mechanism):
        raise UnderpaidError(
            "OpenDP does not confirm that this is within the price", case="unconfirmed-price"
        )
    return mechanism


def round_up(value: Fraction) -> float:
    """Return the smallest double that is not below the value."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_up_root(value: Fraction) -> float:
    """Return a double that is not below the square root of the value, and only slightly above
    it.
    """
    root = math.sqrt(value)
    while Fraction(root) ** 2 < value:
        root = math.nextafter(root, math.inf)
    return root


def integer_domain() -> Any:
    """Return the domain of all tables."""
    return vector_domain(atom_domain(T="i64"))
