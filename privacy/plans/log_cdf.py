"""Plan of cumulative counts of logged rows. The proof is in `api/kinds/log_cdf/__init__.py`."""

from fractions import Fraction

from privacy.plans.kind_plan import (
    KindPlan,
    PlannedTable,
    PublicAudience,
    Request,
    cells_by_bin,
    every_request,
)
from privacy.plans.log_rows import ONE_CELL, row_bounds


def _parts(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the tree over the bins of each group."""
    leaves = row_bounds(request, audience, cells_by_bin(request, audience), ONE_CELL)
    return (PlannedTable("cdf", "laplace-tree", leaves, Fraction(request["epsilon"])),)


PLAN = KindPlan("log-cdf", _parts, others_in_rows=every_request)
