"""Score histograms (paper 1): how relevance scores are distributed in each group.

Unit: one person. Counted once in at most `groups_per_person` groups, in one bin or outside of all
bins of each: the table of bins moves by at most that many when a person is added or removed, and by
twice as many when a person changes. The number of scored people per group is a table of its own,
with the same reach: not everybody matches, so it is as private as the bins, unless it is known.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §4.3.2 (scores, frozen context) and §4.3.3 (noise).
"""

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.audits.kind import AudienceFacts
from api.audits.scoring import refuse_when_down, score_or_cut
from api.errors import InvalidBinsError, UnsupportedAuditError
from api.platform import Platform
from openapi.models import Edges, GroupHistogram, GroupSize, Levels, ScoreHistogramRequest
from privacy.membership import Membership
from privacy.table import Bounds, Cells, Table
from privacy.waist import DiscreteLaplace, Question

BINS = "bins"
SIZES = "sizes"


class ScoreHistogram:
    def check(self, request: ScoreHistogramRequest, platform: Platform) -> None:
        if platform.scores is None:
            raise UnsupportedAuditError("this platform offers no scores")
        _check_increasing(request.bins)
        _check_context(request.context, platform.scores.context)

    def question(self, request: ScoreHistogramRequest, audience: AudienceFacts) -> Question:
        groups, reach = len(audience.labels), audience.groups_per_person
        cells = Bounds.counts((groups, _count(request.bins) + 1), reach)
        question = {BINS: DiscreteLaplace(cells, Fraction(request.epsilon))}
        size_epsilon = _size_epsilon(request)
        if audience.known_sizes is None and size_epsilon > 0:
            sizes = Bounds.counts((groups,), reach)
            question[SIZES] = DiscreteLaplace(sizes, size_epsilon)
        return question

    def reduce(
        self,
        request: ScoreHistogramRequest,
        question: Question,
        content: Mapping[str, Any],
        membership: Membership,
        platform: Platform,
    ) -> Mapping[str, Table]:
        """Score a batch, count it, add: the batches may be anywhere."""
        if platform.scores is None:
            raise UnsupportedAuditError("this platform offers no scores")
        scores = platform.scores
        context = {name: values[0] for name, values in scores.context.items()} | request.context
        refuse_when_down(scores, content, context)
        bounds = question[BINS].bounds
        table = Table.zeros(bounds)
        for group, persons in membership.batches():
            values = score_or_cut(scores, content, persons, context)
            table += Table.tally(bounds, bin_of(values, request.bins) + group * bounds.shape[1])
        tables = {BINS: table}
        if SIZES in question:
            # Everybody is in exactly one cell of each of their groups: sizes are row sums.
            tables[SIZES] = Table(question[SIZES].bounds, table.cells.sum(axis=1))
        return tables

    def present(
        self,
        request: ScoreHistogramRequest,
        audience: AudienceFacts,
        noisy: Mapping[str, Cells],
    ) -> dict[str, Any]:
        groups = [
            GroupHistogram(
                label=label,
                counts=[int(count) for count in row[:-1]],
                outside=int(row[-1]),
                size=_size(number, audience, noisy.get(SIZES)),
            )
            for number, (label, row) in enumerate(zip(audience.labels, noisy[BINS], strict=True))
        ]
        return {"bins": request.bins, "groups": groups}


def bin_of(scores: NDArray[np.float64], bins: Edges | Levels) -> NDArray[np.intp]:
    """The bin of each score; one past the last for scores in none, NaN and infinities included."""
    if isinstance(bins, Levels):
        levels = np.asarray(bins.levels)
        found = np.minimum(np.searchsorted(levels, scores), len(levels) - 1)
        return np.where(levels[found] == scores, found, len(levels))
    edges = np.asarray(bins.edges)
    found = np.searchsorted(edges, scores, side="right") - 1
    found[scores == edges[-1]] = len(edges) - 2
    inside = (scores >= edges[0]) & (scores <= edges[-1])
    return np.where(inside, found, len(edges) - 1)


def _count(bins: Edges | Levels) -> int:
    return len(bins.levels) if isinstance(bins, Levels) else len(bins.edges) - 1


def _size_epsilon(request: ScoreHistogramRequest) -> Fraction:
    if request.size_epsilon is not None:
        return Fraction(request.size_epsilon)
    # A quarter, in whole millionths and at least one.
    return Fraction(max(1, int(request.epsilon * 1_000_000) // 4), 1_000_000)


def _size(group: int, audience: AudienceFacts, noisy: Cells | None) -> GroupSize:
    if audience.known_sizes is not None:
        return GroupSize(kind="known", value=audience.known_sizes[group])
    if noisy is not None:
        return GroupSize(kind="noisy", value=int(noisy[group]))
    return GroupSize(kind="bins")


def _check_increasing(bins: Edges | Levels) -> None:
    values = bins.levels if isinstance(bins, Levels) else bins.edges
    for number, (before, after) in enumerate(pairwise(values), start=1):
        if not before < after:
            raise InvalidBinsError(
                f"value {number} ({after}) is not above the one before it ({before}): "
                "levels and edges must increase. Nothing was charged."
            )


def _check_context(asked: Mapping[str, Any], offered: Mapping[str, Any]) -> None:
    for name, value in asked.items():
        if name not in offered or value not in offered[name]:
            raise UnsupportedAuditError(
                f"the platform cannot freeze {name} at {value!r}: see `context` in the catalogue. "
                "Nothing was charged."
            )
