"""Outcome tests ([YSJ22]): sums over logged opportunities, by group and bin of the score.

Unit: one person of the log's role, with at most `rows_per_person` rows in each of at most
`groups_per_person` groups. A row is in one bin, or in none and then in no sum.

Within a bin the score is u, from −1 at its low end to 1 at its high end, and the outcome v, from −1
to 1 over its range. Edges and range are public, so all of the noise is spent on what varies. The
sums are of x = (1, v, u, u², uv, v²), each in fixed point with a resolution w of its own. So noise
of one scale is finer, in parts of one, for the sums that decide more. Counts and outcomes decide
verdicts, scores correct them, and second moments only give the width of the interval.

Sensitivity of a row. |wᵢ xᵢ| ≤ wᵢ, rounded or not. So a row changes the table by at most Σ wᵢ in
L1, and by Σ wᵢ² in squared L2. Two rows of one cell are at most Σ (wᵢ dᵢ)² apart, with dᵢ the width
of the range of xᵢ: 0 for the count, 1 for squares, 2 for the others. Rows of different cells are at
most 2 Σ wᵢ² apart. `Bounds.rows` takes half of the larger. So changing one person costs exactly
twice what adding one costs, in Gaussian noise too.

With more than one row per person the sums are of clusters. Person-level moments are not released: a
sum of at most m numbers has (Σ ψᵣ)² ≤ m Σ ψᵣ² (Cauchy–Schwarz). So variances from these sums are
right when multiplied by m. The release states m, and the analysis multiplies by it.

[YSJ22] Yu, Saint-Jacques, Choosing an algorithmic fairness metric for an online marketplace, 2022,
    §3.6 (the test by score), §4.1 and §4.2 (specifications 1 and 2).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.kinds.building_blocks import log_checks, score_bins
from api.kinds.building_blocks.log_rows import (
    HELD_BYTES,
    Groups,
    SelectedRows,
    Selection,
    tabulate_rows,
)
from api.kinds.context import AuditContext
from api.kinds.protocol import KNOWN_AT_CHARGE, AudienceFacts, PlatformKind, plan_release
from api.platforms.interfaces import Platform
from openapi.kinds import outcome_test as contract
from openapi.resources import GroupMoments, MomentUnits, OutcomeTestRequest
from privacy.plans.outcome_test import MOMENT_UNITS
from privacy.tables.bounded_table import Cells, Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan

MOMENTS = "moments"
RULES = (
    "A row counts in the bin of its score, clipped to the public range. A row in no bin is in no"
    " sum.",
)


class OutcomeTest:
    sources = KNOWN_AT_CHARGE

    def offered_by(self, platform: Platform) -> bool:
        return platform.logs is not None

    def check(
        self, request: OutcomeTestRequest, audience: AudienceFacts, platform: Platform
    ) -> None:
        score_bins.check_increasing(request.bins.edges)
        log = log_checks.check(request, [request.score, request.outcome], platform)
        log_checks.check_range(request.outcome_range, *log.numbers[request.outcome])

    def plan(self, request: OutcomeTestRequest, audience: AudienceFacts) -> ReleasePlan:
        return plan_release(request, audience)

    def reduce(
        self,
        request: OutcomeTestRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        bounds, numbers = plan[MOMENTS].bounds, (request.score, request.outcome)
        asked = Selection(request.log, numbers, request.where, request.rows_per_person)

        def reduce(group: Groups, rows: SelectedRows) -> Table:
            return Table(bounds, moments(request, rows, group, bounds.shape[0]))

        return {MOMENTS: tabulate_rows(context, asked, membership, bounds, reduce)}

    def held_bytes(self, request: OutcomeTestRequest, audience: AudienceFacts) -> int:
        return HELD_BYTES

    def present(
        self,
        request: OutcomeTestRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, Cells],
    ) -> dict[str, Any]:
        groups = [
            GroupMoments(label=label, **dict(zip(MOMENT_UNITS, sums.T.tolist(), strict=True)))
            for label, sums in zip(audience.labels, released[MOMENTS], strict=True)
        ]
        asked = request.model_dump(include={"log", "bins", "outcome_range", "rows_per_person"})
        return {**asked, "units": MomentUnits(**MOMENT_UNITS), "groups": groups}

    def rules(self, request: OutcomeTestRequest, platform: Platform) -> tuple[str, ...]:
        return (*log_checks.rules(request, platform), *RULES)

    def model_digest(self, request: OutcomeTestRequest, platform: Platform) -> str | None:
        return log_checks.log_of(request, platform).model_digest


def moments(request: OutcomeTestRequest, rows: SelectedRows, group: Groups, groups: int) -> Cells:
    """Return the sums of one batch of rows, by group, bin and moment."""
    scores, outcomes = rows.numbers[request.score], rows.numbers[request.outcome]
    edges = np.asarray(request.bins.edges)
    bin_index = score_bins.bin_of(scores, request.bins)
    bins_each = len(edges) - 1
    cell = group * bins_each + bin_index
    inside = bin_index < bins_each
    if not inside.all():
        bin_index, cell = bin_index[inside], cell[inside]
        scores, outcomes = scores[inside], outcomes[inside]
    by, plus = _scaling(edges[:-1], edges[1:])
    u = _within_one(scores, by.take(bin_index), plus.take(bin_index))
    by, plus = _scaling(*np.array([[request.outcome_range.low], [request.outcome_range.high]]))
    v = _within_one(outcomes, by, plus)
    each = {
        "count": None,
        "outcome": v,
        "score": u,
        "score_squared": u * u,
        "score_outcome": u * v,
        "outcome_squared": v * v,
    }
    sums = [_sum(cell, each[name], unit, groups * bins_each) for name, unit in MOMENT_UNITS.items()]
    return np.stack(sums, axis=1).reshape(groups, bins_each, len(MOMENT_UNITS))


def _scaling(
    low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the factor and the summand that map the low end to −1 and the high end to 1.

    For ends that floats cannot distinguish, both are 0.
    """
    with np.errstate(all="ignore"):
        # (x − middle) / half; the halves are finite even where the width is not.
        half, middle = high / 2 - low / 2, high / 2 + low / 2
        by, plus = 1 / half, -middle / half
    sound = np.isfinite(by) & np.isfinite(plus)
    return np.where(sound, by, 0.0), np.where(sound, plus, 0.0)


def _within_one(
    x: NDArray[np.float64], by: NDArray[np.float64], plus: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the scaled numbers, clipped to −1 … 1."""
    scaled = x * by
    scaled += plus
    return np.clip(scaled, -1, 1, out=scaled)


def _sum(
    cell: NDArray[np.intp], values: NDArray[np.float64] | None, unit: int, count: int
) -> Cells:
    """Return the sum by cell of rounded values: integers, which floats add exactly.

    (A batch has fewer than 2²⁴ rows of at most 2²⁰ units.)
    """
    if values is None:
        return unit * np.bincount(cell, minlength=count).astype(np.int64)
    units = unit * values
    return np.bincount(cell, np.rint(units, out=units), count).astype(np.int64)


KIND = PlatformKind(contract.KIND, OutcomeTest())
