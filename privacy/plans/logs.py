"""Plans of the audits of logged rows.

The proofs of what one row adds are in the kinds' own modules (`api/kinds/outcome_test/__init__.py`,
…).
"""

from fractions import Fraction
from typing import Final

from privacy.plans.part import PlannedTable, PublicAudience, Request, bins_of, noise_of
from privacy.tables.bounded_table import Bounds, Reach

ONE_CELL: Final = Reach(1, 1, 1)
# The fineness of the sums of an outcome test, and the widths of the ranges of what is summed.
MOMENT_UNITS: Final = {
    "count": 2**20,
    "outcome": 2**20,
    "score": 2**19,
    "score_squared": 2**18,
    "score_outcome": 2**18,
    "outcome_squared": 2**18,
}
_MOMENT_WIDTHS: Final = {
    "count": 0,
    "outcome": 2,
    "score": 2,
    "score_squared": 1,
    "score_outcome": 2,
    "outcome_squared": 1,
}
# The fineness of the sums of a bias size, and how far one row moves them in L1.
BIAS_UNIT: Final = 2**20
_MOVED, _MOVED_IN_PLACES = 4, 10


def log_cdf(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the tree over the bins of each group."""
    shape = (audience.groups, bins_of(request["bins"]) + 1)
    leaves = _rows(request, audience, shape, ONE_CELL)
    return (PlannedTable("cdf", "laplace-tree", leaves, Fraction(request["epsilon"])),)


def outcome_test(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the sums of each group and bin."""
    mechanism, parameter = noise_of(request)
    shape = (audience.groups, bins_of(request["bins"]), len(MOMENT_UNITS))
    bounds = _rows(request, audience, shape, moments_of_a_row())
    return (PlannedTable("moments", mechanism, bounds, parameter),)


def reo(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the counts by traffic and group of creators, negative and positive."""
    mechanism, parameter = noise_of(request)
    # Strategies by days, and random traffic of all days together.
    traffics = len(request["strategies"]) * max(len(request["days"]), 1) + 1
    shape = (audience.groups, traffics, len(request["groups"]), 2)
    bounds = _rows(request, audience, shape, ONE_CELL)
    return (PlannedTable("counts", mechanism, bounds, parameter),)


def bias_size(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the counts and ranks of each group, and the two outcomes of all."""
    mechanism, parameter = noise_of(request)
    in_places = request["places"] is not None
    cells = audience.groups * (4 if in_places else 2) + 2
    far, slots = _MOVED_IN_PLACES if in_places else _MOVED, audience.fixed_slots
    # `Bounds.rows` doubles the squared norm for a change, and once more for fixed slots.
    row = Reach(far * BIAS_UNIT, (4 if slots else 2) * far * BIAS_UNIT**2, BIAS_UNIT)
    bounds = Bounds.rows((cells,), row, request["rows_per_person"], 1, fixed_slots=slots)
    return (PlannedTable("sums", mechanism, bounds, parameter),)


def moments_of_a_row() -> Reach:
    """Return what one row adds to the sums of an outcome test."""
    added = sum(unit**2 for unit in MOMENT_UNITS.values())
    apart = sum((unit * _MOMENT_WIDTHS[name]) ** 2 for name, unit in MOMENT_UNITS.items())
    half = max(added, -(-apart // 2))
    return Reach(l1=sum(MOMENT_UNITS.values()), l2_squared=half, linf=max(MOMENT_UNITS.values()))


def _rows(request: Request, audience: PublicAudience, shape: tuple[int, ...], row: Reach) -> Bounds:
    return Bounds.rows(
        shape,
        row,
        request["rows_per_person"],
        audience.groups_per_person,
        fixed_slots=audience.fixed_slots,
    )
