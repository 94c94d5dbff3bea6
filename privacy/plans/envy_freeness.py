"""Plan of an audit of envy: counts, duration and cost.

The proof is in `docs/explanation/envy.md`.
"""

from fractions import Fraction
from typing import Final

from privacy.errors import BoundsError
from privacy.plans.kind_plan import KindPlan, PlannedTable, PublicAudience, Request, share_of
from privacy.tables.bounded_table import Bounds
from privacy.tables.sensitivity import Lots, Reach

# Resolution of the cost: the number of units in a reward of 1.
COST_UNIT: Final = 1_000
# A lot leaves one count and enters the other.
_COUNTED: Final = Reach(2, 2, 1)
_DIVISOR = 4


def _parts(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the two counts and, if bought, the sum of steps and the cost."""
    epsilon, steps = Fraction(request["epsilon"]), request["steps"]
    counts = _bounds(request, audience, (2,), _COUNTED)
    parts = (
        PlannedTable("counts", "discrete-laplace", counts, epsilon),
        _sum("duration", request, audience, steps),
        _sum("cost", request, audience, 2 * COST_UNIT * steps),
    )
    return tuple(part for part in parts if part.parameter > 0)


def _sum(name: str, request: Request, audience: PublicAudience, span: int) -> PlannedTable:
    """Return a sum to which a lot adds a number from a range of this span."""
    share = share_of(Fraction(request["epsilon"]), request[f"{name}_epsilon"], _DIVISOR)
    bounds = _bounds(request, audience, (1,), Reach(span, span**2, span))
    return PlannedTable(name, "discrete-laplace", bounds, share)


def _bounds(
    request: Request, audience: PublicAudience, shape: tuple[int, ...], lot: Reach
) -> Bounds:
    each = request["arms_per_person"]
    if each is None:
        raise BoundsError("an audit of envy must state in how many lots one person may take part")
    reach = lot.l1, lot.l2_squared, lot.linf
    return Bounds.by(shape, Lots(*reach, each, audience.fixed_slots))


PLAN = KindPlan("envy-freeness", _parts, explores=True)
