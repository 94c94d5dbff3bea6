"""The waist: the only door through which private data become public (R1).

A plan says, before any data are read, which tables will be released and with which mechanism;
its price follows from that alone. `release` takes the tables and proof of payment, and refuses to
let out anything that was not priced, or that costs more than was paid.
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
    """A differentially private function of one table, priced by the table's bounds.

    Immutable, and equal ones cost the same: prices that were shown are remembered by them.
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
    """Return what comes out of every table of the plan, once it is paid for.

    Noise is drawn here. Every number is clipped to ±(2⁵³ − 1), so that any draw can be encoded.
    """
    if not paid.covers(price(plan)):
        raise UnderpaidError("the release costs more than was charged for it")
    if {name: table.bounds for name, table in tables.items()} != {
        name: mechanism.bounds for name, mechanism in plan.items()
    }:
        raise BoundsError("the tables are not the ones that were priced")
    return {name: mechanism.release(tables[name]) for name, mechanism in plan.items()}
