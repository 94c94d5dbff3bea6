"""Plan of a two-party audit: one table of hidden weights times values.

It does not need the cryptography of `privacy.two_party`.
"""

from collections.abc import Mapping
from fractions import Fraction

from privacy.metric_values.from_request import make_metric, reads_rows
from privacy.plans.kind_plan import KindPlan, PlannedTable, PublicAudience, Request
from privacy.tables.bounded_table import Bounds
from privacy.tables.sensitivity import Products


def _parts(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the sums, by hidden group and cell of the metric."""
    layout, weights = make_metric(request["metric"]).layout, request["weight_scale"]
    rule = Products(
        largest_weight=weights,
        total_weight=weights,
        largest_value=min(max(-layout.low, layout.high), layout.total),
        total_value=layout.total,
        moved=layout.moved,
        displacing=audience.candidates is not None,
    )
    bounds = Bounds.by((request["hidden_groups"], len(layout.cells)), rule)
    return (PlannedTable("sums", "discrete-laplace", bounds, Fraction(request["epsilon"])),)


def _others_in_rows(request: Request) -> bool:
    """Return whether the metric reads rows; an unknown metric counts as one that does."""
    metric = request.get("metric")
    return not isinstance(metric, Mapping) or reads_rows(str(metric.get("name")))


PLAN = KindPlan(
    "two-party",
    _parts,
    others_in_rows=_others_in_rows,
    hides_weights=True,
    hidden_audiences=True,
)
