"""Terms of a run in the service, which follow from a request identically on both sides."""

from dataclasses import replace
from fractions import Fraction
from math import ceil

from privacy.metric_values import Layout
from privacy.two_party.terms import Entries, RunTerms

# |noise| exceeds this multiple of its scale with probability at most 2·e⁻⁶⁴, below 2⁻⁹¹.
ROOM = 64


def service_terms(
    audit: str,
    *,
    rows: int,
    groups: int,
    layout: Layout,
    weight_scale: int,
    epsilon: Fraction,
    candidates: int | None = None,
) -> RunTerms:
    """Return the terms: weights are parts of `weight_scale`, and noise is discrete Laplace of scale
    reach / epsilon.
    """
    bare = RunTerms(
        audit=audit,
        rows=rows,
        groups=groups,
        cells=len(layout.cells),
        weights=Entries(0, weight_scale, weight_scale),
        values=Entries(layout.low, layout.high, layout.total),
        noise=0,
        moved=layout.moved,
        candidates=candidates,
    )
    return replace(bare, noise=ceil(ROOM * bare.bounds.added.l1 / epsilon))
