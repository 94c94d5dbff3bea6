"""Plan of cumulative counts of scores. The proof is in `api/kinds/score_cdf/__init__.py`."""

from fractions import Fraction

from privacy.plans.kind_plan import KindPlan, PlannedTable, PublicAudience, Request, cells_by_bin
from privacy.tables.bounded_table import Bounds


def _parts(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the tree over the bins of each group."""
    reach, slots = audience.groups_per_person, audience.fixed_slots
    leaves = Bounds.counts(cells_by_bin(request, audience), reach, fixed_slots=slots)
    return (PlannedTable("cdf", "laplace-tree", leaves, Fraction(request["epsilon"])),)


PLAN = KindPlan("score-cdf", _parts)
