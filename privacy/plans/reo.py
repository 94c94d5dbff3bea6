"""Plan of an audit of ranking with exploration. The proof is in `api/kinds/reo/__init__.py`."""

from privacy.plans.kind_plan import (
    KindPlan,
    PlannedTable,
    PublicAudience,
    Request,
    every_request,
    noise_of,
)
from privacy.plans.log_rows import ONE_CELL, row_bounds


def _parts(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the counts by traffic and group of creators, negative and positive."""
    mechanism, parameter = noise_of(request)
    # Strategies by days, and random traffic of all days together.
    traffics = len(request["strategies"]) * max(len(request["days"]), 1) + 1
    shape = (audience.groups, traffics, len(request["groups"]), 2)
    bounds = row_bounds(request, audience, shape, ONE_CELL)
    return (PlannedTable("counts", mechanism, bounds, parameter),)


PLAN = KindPlan("reo", _parts, others_in_rows=every_request)
