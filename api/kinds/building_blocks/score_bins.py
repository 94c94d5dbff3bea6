"""Bins: the cell of each score, and checks of requested bins and context."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.kernel import failpoints
from api.kernel.errors import InvalidBinsError, UnsupportedAuditError
from api.kernel.failpoints import Failpoint
from api.kinds.building_blocks.scoring import require_scoring, score_isolating_failures
from api.kinds.building_blocks.table_sum import sum_tables
from api.kinds.context import AuditContext
from api.platforms.interfaces import Platform, Scores
from openapi.resources import Edges, GroupCdf, Levels
from privacy.canonical import LARGEST
from privacy.tables.bounded_table import Bounds, Table
from privacy.tables.membership import Membership

_FEW = 32
# More cells than edges, so that edges almost as far apart as others have a cell of their own.
_CELLS_PER_EDGE = 8
RULES = (
    "A score that is not a number, or lies outside of all bins, counts as outside.",
    "The temporal context is the same for the whole audience. The model is a fixed input.",
)


def tally(
    content: Mapping[str, Any],
    bins: Edges | Levels,
    asked: Mapping[str, str | float],
    membership: Membership,
    audit: AuditContext,
    bounds: Bounds,
) -> Table:
    """Return the number of people by group and bin; the last bin holds scores outside all bins."""

    def of_some(platform: Platform, some: Membership) -> Table:
        scores = scores_of(platform)
        context = {name: values[0] for name, values in scores.context.items()} | dict(asked)
        require_scoring(scores, content, context)

        def tables() -> Iterator[Callable[[], Table]]:
            for group, persons in some.batches():
                values = score_isolating_failures(scores, content, persons, context)
                failpoints.hit(Failpoint.RUNNING)
                yield partial(_tallied, bounds, bins, group, values)

        return sum_tables(bounds, some, tables())

    return audit.engine.sum_tables(membership, of_some)


def _tallied(
    bounds: Bounds, bins: Edges | Levels, group: int, scores: NDArray[np.float64]
) -> Table:
    return Table.tally(bounds, bin_of(scores, bins) + group * bounds.shape[1])


def running_counts(labels: Sequence[str], leaves: NDArray[np.float64]) -> list[GroupCdf]:
    """Return, by group, the counts up to the end of each bin, and the count of everything.

    They are clipped to numbers that canonical JSON carries exactly, which is post-processing.
    """
    running = np.clip(np.cumsum(leaves, axis=1), -LARGEST, LARGEST)
    return [
        GroupCdf(label=label, cumulative=[round(float(value), 6) for value in row])
        for label, row in zip(labels, running, strict=True)
    ]


def scores_of(platform: Platform) -> Scores:
    if platform.scores is None:
        raise UnsupportedAuditError("This platform offers no scores.")
    return platform.scores


def check(bins: Edges | Levels, context: Mapping[str, Any], platform: Platform) -> None:
    """Refuse bins that do not increase, and a context that the platform cannot freeze."""
    check_increasing(bins.levels if isinstance(bins, Levels) else bins.edges)
    _check_context(context, scores_of(platform).context)


def count(bins: Edges | Levels) -> int:
    return len(bins.levels) if isinstance(bins, Levels) else len(bins.edges) - 1


def bin_of(scores: NDArray[np.float64], bins: Edges | Levels) -> NDArray[np.intp]:
    """Return the bin of each score.

    Scores outside, including NaN and infinity, get the number after the last bin.
    """
    if isinstance(bins, Levels):
        levels = np.asarray(bins.levels)
        found = np.minimum(np.searchsorted(levels, scores), len(levels) - 1)
        return np.where(levels[found] == scores, found, len(levels))
    edges = np.asarray(bins.edges)
    if len(edges) <= _FEW:
        return _compared(edges, scores)
    inside = (scores >= edges[0]) & (scores <= edges[-1])
    found = _looked_up(edges, np.where(inside, scores, edges[0])) - 1
    found[scores == edges[-1]] = len(edges) - 2
    return np.where(inside, found, len(edges) - 1)


def _compared(edges: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the bins by comparing with each edge: for few edges, many times faster than searching.

    A score below all edges is in no bin, and a score above the last edge has passed one too many.
    """
    passed, above = np.zeros(len(scores), np.int8), np.empty(len(scores), bool)
    for edge in edges[:-1].tolist():
        passed += np.greater_equal(scores, edge, out=above).view(np.int8)
    passed += np.greater(scores, edges[-1], out=above).view(np.int8)
    last = len(edges) - 1
    return np.array([last, *range(last), last])[passed]


def _looked_up(edges: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return for each score, all within the increasing edges, the number of edges not above it.

    The lookup table splits the edges' range into cells with at most one edge each.

    Rounding keeps order. An edge in a lower cell is below the score, one in a higher cell above
    it, and only the edge in the score's own cell must be compared.
    """
    low = edges[0]
    with np.errstate(all="ignore"):  # at the limits of floats, cells are not distinct
        scale = _CELLS_PER_EDGE * len(edges) / (edges[-1] - low)
        cells = ((edges - low) * scale).astype(np.intp)
    if np.diff(cells).min() < 1:
        return np.searchsorted(edges, scores, side="right")
    below = np.searchsorted(cells, np.arange(cells[-1] + 1))
    found: NDArray[np.intp] = below[((scores - low) * scale).astype(np.intp)]
    return found + (scores >= np.append(edges, np.inf)[found])


def check_increasing(values: Sequence[float]) -> None:
    for number, (before, after) in enumerate(pairwise(values), start=1):
        if not before < after:
            raise InvalidBinsError(
                f"Value {number} ({after}) is not above the one before it ({before}): "
                "levels and edges must increase. Nothing was charged."
            )


def _check_context(asked: Mapping[str, Any], offered: Mapping[str, Any]) -> None:
    for name, value in asked.items():
        if name not in offered or value not in offered[name]:
            raise UnsupportedAuditError(
                f"The platform cannot freeze {name} at {value!r}: see `context` in the catalogue. "
                "Nothing was charged."
            )
