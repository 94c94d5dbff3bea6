"""Plans of the audits of relevance scores.

The proofs are in the kinds' own modules (`api/kinds/score_histogram/__init__.py` and its
neighbours).
"""

from fractions import Fraction

from privacy.plans.part import PlannedTable, PublicAudience, Request, bins_of, noise_of, share_of
from privacy.tables.bounded_table import Bounds
from privacy.tables.sensitivity import Candidates

# The default share of the main parameter that buys the sizes: noise four times as wide.
_SIZE_DIVISOR = {"discrete-laplace": 4, "discrete-gaussian": 16}


def score_histogram(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the counts by group and bin and, unless they are known, the sizes of the groups."""
    mechanism, parameter = noise_of(request)
    reach, slots = audience.groups_per_person, audience.fixed_slots
    cells = Bounds.counts(_shape(request, audience), reach, fixed_slots=slots)
    bins = PlannedTable("bins", mechanism, cells, parameter)
    given = request["size_rho" if mechanism == "discrete-gaussian" else "size_epsilon"]
    for_sizes = share_of(parameter, given, _SIZE_DIVISOR[mechanism])
    if audience.sizes_known or for_sizes == 0:
        return (bins,)
    sizes = Bounds.counts((audience.groups,), reach)
    return bins, PlannedTable("sizes", mechanism, sizes, for_sizes)


def score_cdf(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the tree over the bins of each group."""
    reach, slots = audience.groups_per_person, audience.fixed_slots
    leaves = Bounds.counts(_shape(request, audience), reach, fixed_slots=slots)
    return (PlannedTable("cdf", "laplace-tree", leaves, Fraction(request["epsilon"])),)


def most_skewed(request: Request, _audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the selection of one of several contents."""
    shape = (len(request["contents"]),)
    bounds = Bounds.by(shape, Candidates(max(request["weights"])))
    return (PlannedTable("skew", "report-noisy-max", bounds, Fraction(request["epsilon"])),)


def _shape(request: Request, audience: PublicAudience) -> tuple[int, int]:
    """The bins of each group, and one cell for scores outside of all bins."""
    return audience.groups, bins_of(request["bins"]) + 1
