"""Plan of a score histogram. The proof is in `api/kinds/score_histogram/__init__.py`."""

from privacy.plans.kind_plan import (
    KindPlan,
    PlannedTable,
    PublicAudience,
    Request,
    cells_by_bin,
    noise_of,
    share_of,
)
from privacy.tables.bounded_table import Bounds

# Default share of the main parameter for the sizes, whose noise is four times as wide.
_SIZE_DIVISOR = {"discrete-laplace": 4, "discrete-gaussian": 16}


def _parts(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the counts by group and bin and, unless they are known, the sizes of the groups."""
    mechanism, parameter = noise_of(request)
    reach, slots = audience.groups_per_person, audience.fixed_slots
    cells = Bounds.counts(cells_by_bin(request, audience), reach, fixed_slots=slots)
    bins = PlannedTable("bins", mechanism, cells, parameter)
    given = request["size_rho" if mechanism == "discrete-gaussian" else "size_epsilon"]
    for_sizes = share_of(parameter, given, _SIZE_DIVISOR[mechanism])
    if audience.sizes_known or for_sizes == 0:
        return (bins,)
    sizes = Bounds.counts((audience.groups,), reach)
    return bins, PlannedTable("sizes", mechanism, sizes, for_sizes)


PLAN = KindPlan("score-histogram", _parts, buys_sizes=True)
