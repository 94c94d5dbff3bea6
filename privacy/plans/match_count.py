"""Plan of a match count. The proof is in `api/kinds/match_count/__init__.py`."""

from fractions import Fraction

from privacy.plans.kind_plan import KindPlan, PlannedTable, PublicAudience, Request
from privacy.tables.bounded_table import Bounds


def _parts(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the number of people of each group whom the platform found.

    The number of people in a sample is public and fixed, so no slot counts twice.
    """
    bounds = Bounds.counts((audience.groups,), audience.groups_per_person)
    return (PlannedTable("matched", "discrete-laplace", bounds, Fraction(request["epsilon"])),)


PLAN = KindPlan("match-count", _parts)
