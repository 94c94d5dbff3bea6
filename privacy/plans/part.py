"""Part of a release: one table, its noise, and the numbers that bound it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privacy.tables.bounded_table import Bounds

# A request as JSON has it: amounts are decimal strings.
Request = Mapping[str, Any]
# An upload finds each person independently of others. A drawn sample has an exact size, and so has
# the set of candidates with which a hidden audience is compared.
_FIXED_SIZE = frozenset({"sample", "hidden"})


@dataclass(frozen=True)
class PlannedTable:
    """Table that will be released, its mechanism, and its epsilon or rho under add/remove."""

    name: str
    mechanism: str
    bounds: Bounds
    parameter: Fraction


@dataclass(frozen=True)
class PublicAudience:
    """Public facts about a sealed audience from which bounds follow.

    `fixed_slots`: a person who is added or removed displaces another. `candidates` is the padded
    number of people with whom a hidden audience is compared.
    """

    groups: int
    groups_per_person: int
    fixed_slots: bool = False
    sizes_known: bool = False
    candidates: int | None = None


def has_fixed_slots(source: str) -> bool:
    """Return whether an audience of this source has an exact size."""
    return source in _FIXED_SIZE


def noise_of(request: Request) -> tuple[str, Fraction]:
    """Return the mechanism that a request chose, and its epsilon or rho."""
    if request["mechanism"] == "discrete-gaussian":
        return "discrete-gaussian", Fraction(request["rho"])
    return "discrete-laplace", Fraction(request["epsilon"])


def share_of(main: Fraction, given: str | None, divisor: int) -> Fraction:
    """Return the given amount (default: a share of the main amount).

    The share is in whole millionths, and at least one.
    """
    if given is not None:
        return Fraction(given)
    return Fraction(max(1, int(main * 1_000_000) // divisor), 1_000_000)


def bins_of(bins: Mapping[str, Any]) -> int:
    """Return the number of bins, without the one for values outside all bins."""
    return len(bins["levels"]) if "levels" in bins else len(bins["edges"]) - 1


def cells_by_bin(request: Request, audience: PublicAudience) -> tuple[int, int]:
    """Return the shape of a table of the bins of each group, with one cell for values outside."""
    return audience.groups, bins_of(request["bins"]) + 1
