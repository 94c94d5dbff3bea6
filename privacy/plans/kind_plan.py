"""Plans of releases: the tables of a kind, their noise, and the numbers that bound them.

A `KindPlan` is everything that the ledger's verifier must know about a kind of audit.
"""

from collections.abc import Callable, Mapping
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


Parts = Callable[[Request, PublicAudience], tuple[PlannedTable, ...]]


def _no(_request: Request) -> bool:
    return False


@dataclass(frozen=True)
class KindPlan:
    """Parts of a kind's releases, and the other statements of its charges.

    `others_in_rows`: whether a request reads rows that may be about other people. `hides_weights`:
    the platform cannot see the weights, so a regulator may open runs. `hidden_audiences`: the kind
    may be charged on people who are found, and debited, later. `explores`: people are shown other
    content, and may lose reward. `buys_sizes`: before format 3, its price also included the noisy
    sizes of groups.
    """

    kind: str
    parts: Parts
    others_in_rows: Callable[[Request], bool] = _no
    hides_weights: bool = False
    hidden_audiences: bool = False
    explores: bool = False
    buys_sizes: bool = False

    def __call__(self, request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
        """Return the parts of one request, by the public facts about its audience."""
        return self.parts(request, audience)


def every_request(_request: Request) -> bool:
    """Return True: every request of the kind reads rows."""
    return True


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
