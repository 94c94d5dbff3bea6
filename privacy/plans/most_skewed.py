"""Plan of a selection of the most skewed content.

The proof is in `api/kinds/most_skewed/__init__.py`.
"""

from fractions import Fraction

from privacy.plans.kind_plan import KindPlan, PlannedTable, PublicAudience, Request
from privacy.tables.bounded_table import Bounds
from privacy.tables.sensitivity import Candidates


def _parts(request: Request, _audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the selection of one of several contents."""
    shape = (len(request["contents"]),)
    bounds = Bounds.by(shape, Candidates(max(request["weights"])))
    return (PlannedTable("skew", "report-noisy-max", bounds, Fraction(request["epsilon"])),)


PLAN = KindPlan("most-skewed", _parts)
