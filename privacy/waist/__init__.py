"""The waist: the only way in which private data become public (R1).

A plan states, before any data are read, the tables to release and their mechanisms; the price
follows from the plan alone. `release` takes the tables and a proof of payment. It refuses every
table that was not priced, and every release that costs more than was paid.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from privacy.errors import BoundsError, UnderpaidError
from privacy.plans import PlannedTable
from privacy.tables.bounded_table import Bounds
from privacy.tables.price import FREE, ExactPrice
from privacy.waist.gaussian import DiscreteGaussian
from privacy.waist.laplace import DiscreteLaplace
from privacy.waist.overflow import Overflow, find_overflow
from privacy.waist.selection import NoisyMax
from privacy.waist.tree import LaplaceTree

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "LaplaceTree",
    "Mechanism",
    "NoisyMax",
    "Overflow",
    "ReleasePlan",
    "find_overflow",
    "make_mechanisms",
    "price",
    "release",
]


class Mechanism(Protocol):
    """Differentially private function of one table, with a price that follows from the table's
    bounds.

    Mechanisms are immutable, and equal ones have equal prices, so prices are cached by
    mechanism.
    """

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def bounds(self) -> Bounds: ...

    @property
    def parameter(self) -> Fraction: ...

    @property
    def price(self) -> ExactPrice: ...

    @property
    def scale(self) -> float: ...

    @property
    def standard_deviation(self) -> float: ...

    def error(self, probability: float) -> int: ...

    def release(self, table: Any) -> Any: ...


ReleasePlan = Mapping[str, Mechanism]

_MECHANISMS = {
    mechanism.name: mechanism
    for mechanism in (DiscreteLaplace, DiscreteGaussian, LaplaceTree, NoisyMax)
}


def make_mechanisms(parts: Iterable[PlannedTable]) -> ReleasePlan:
    """Return the mechanism of each part of a plan, by the part's name."""
    return {part.name: _MECHANISMS[part.mechanism](part.bounds, part.parameter) for part in parts}


def price(plan: ReleasePlan) -> ExactPrice:
    """Return the price of all tables, by composition. Groups inside one table are in parallel."""
    return sum((mechanism.price for mechanism in plan.values()), FREE)


def release(plan: ReleasePlan, tables: Mapping[str, Any], paid: ExactPrice) -> dict[str, Any]:
    """Return the noisy result of every table of the plan, if the plan is paid.

    Noise is drawn here. Every number is clipped to ±(2⁵³ − 1), so that any draw can be encoded.
    """
    if not paid.covers(price(plan)):
        raise UnderpaidError("the release costs more than its charge")
    if {name: table.bounds for name, table in tables.items()} != {
        name: mechanism.bounds for name, mechanism in plan.items()
    }:
        raise BoundsError("the tables differ from the priced ones")
    return {name: mechanism.release(tables[name]) for name, mechanism in plan.items()}
