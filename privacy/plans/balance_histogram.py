"""Plan of a histogram of balances. The proof is in `api/kinds/balance_histogram/__init__.py`."""

from fractions import Fraction

from privacy.plans.kind_plan import KindPlan, PlannedTable, PublicAudience, Request
from privacy.tables.bounded_table import Bounds


def _parts(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the counts by group and share of the lifetime cap, with a last cell outside all bins."""
    shape = (audience.groups, len(request["bins"]["edges"]))
    reach, slots = audience.groups_per_person, audience.fixed_slots
    bounds = Bounds.counts(shape, reach, fixed_slots=slots)
    return (PlannedTable("balances", "discrete-laplace", bounds, Fraction(request["epsilon"])),)


PLAN = KindPlan("balance-histogram", _parts)
