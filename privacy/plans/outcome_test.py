"""Plan of an outcome test. The proof is in `api/kinds/outcome_test/__init__.py`."""

from typing import Final

from privacy.plans.kind_plan import (
    KindPlan,
    PlannedTable,
    PublicAudience,
    Request,
    bins_of,
    every_request,
    noise_of,
)
from privacy.plans.log_rows import row_bounds
from privacy.tables.bounded_table import Reach

# Resolution of the sums, and the widths of the ranges of the summed values.
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


def _parts(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the sums of each group and bin."""
    mechanism, parameter = noise_of(request)
    shape = (audience.groups, bins_of(request["bins"]), len(MOMENT_UNITS))
    bounds = row_bounds(request, audience, shape, moments_of_a_row())
    return (PlannedTable("moments", mechanism, bounds, parameter),)


def moments_of_a_row() -> Reach:
    """Return the contribution of one row to the sums of an outcome test."""
    added = sum(unit**2 for unit in MOMENT_UNITS.values())
    apart = sum((unit * _MOMENT_WIDTHS[name]) ** 2 for name, unit in MOMENT_UNITS.items())
    half = max(added, -(-apart // 2))
    return Reach(l1=sum(MOMENT_UNITS.values()), l2_squared=half, linf=max(MOMENT_UNITS.values()))


PLAN = KindPlan("outcome-test", _parts, others_in_rows=every_request)
