"""Plan of the size of a bias. The proof is in `api/kinds/bias_size/__init__.py`."""

from typing import Final

from privacy.plans.kind_plan import (
    KindPlan,
    PlannedTable,
    PublicAudience,
    Request,
    every_request,
    noise_of,
)
from privacy.tables.bounded_table import Bounds, Reach

# Resolution of the sums of a bias size, and the largest change by one row in L1.
BIAS_UNIT: Final = 2**20
_MOVED, _MOVED_IN_PLACES = 4, 10


def _parts(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the counts and ranks of each group, and the two outcomes of all."""
    mechanism, parameter = noise_of(request)
    in_places = request["places"] is not None
    cells = audience.groups * (4 if in_places else 2) + 2
    far, slots = _MOVED_IN_PLACES if in_places else _MOVED, audience.fixed_slots
    # `Bounds.rows` doubles the squared norm for a change, and again for fixed slots.
    row = Reach(far * BIAS_UNIT, (4 if slots else 2) * far * BIAS_UNIT**2, BIAS_UNIT)
    bounds = Bounds.rows((cells,), row, request["rows_per_person"], 1, fixed_slots=slots)
    return (PlannedTable("sums", mechanism, bounds, parameter),)


PLAN = KindPlan("bias-size", _parts, others_in_rows=every_request)
