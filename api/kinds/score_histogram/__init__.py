"""Score histograms (paper 1): how relevance scores are distributed in each group.

Unit: one person. Counted once in at most `groups_per_person` groups, in one bin or outside of all
bins of each: the table of bins moves by at most that many when a person is added or removed, and by
twice as many when a person changes; twice that in a sample of exact size, where one person
displaces another. The number of scored people per group is a table of its own,
with the same reach: not everybody matches, so it is as private as the bins, unless it is known.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §4.3.2 (scores, frozen context) and §4.3.3 (noise).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from api.kinds.building_blocks import score_bins
from api.kinds.context import AuditContext
from api.kinds.protocol import KNOWN_AT_CHARGE, AudienceFacts, PlatformKind, plan_release
from api.platforms.interfaces import Platform
from openapi.kinds import score_histogram as contract
from openapi.resources import GroupHistogram, GroupSize, ScoreHistogramRequest
from privacy.tables.bounded_table import Cells, Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan

BINS = "bins"
SIZES = "sizes"


class ScoreHistogram:
    sources = KNOWN_AT_CHARGE

    def offered_by(self, platform: Platform) -> bool:
        return platform.scores is not None

    def check(
        self, request: ScoreHistogramRequest, audience: AudienceFacts, platform: Platform
    ) -> None:
        score_bins.check(request.bins, request.context, platform)

    def plan(self, request: ScoreHistogramRequest, audience: AudienceFacts) -> ReleasePlan:
        return plan_release(request, audience)

    def reduce(
        self,
        request: ScoreHistogramRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        [content] = contents
        bounds = plan[BINS].bounds
        table = score_bins.tally(
            content, request.bins, request.context, membership, context, bounds
        )
        tables = {BINS: table}
        if SIZES in plan:
            # Everybody is in exactly one cell of each of their groups: sizes are row sums.
            tables[SIZES] = Table(plan[SIZES].bounds, table.cells.sum(axis=1))
        return tables

    def held_bytes(self, request: ScoreHistogramRequest, audience: AudienceFacts) -> int:
        return 0

    def present(
        self,
        request: ScoreHistogramRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, Cells],
    ) -> dict[str, Any]:
        rows = zip(audience.labels, released[BINS], strict=True)
        groups = [
            GroupHistogram(
                label=label,
                counts=[int(count) for count in row[:-1]],
                outside=int(row[-1]),
                size=_size(number, audience, released.get(SIZES)),
            )
            for number, (label, row) in enumerate(rows)
        ]
        return {"bins": request.bins, "groups": groups, "least_share": request.least_share}

    def rules(self, request: ScoreHistogramRequest, platform: Platform) -> tuple[str, ...]:
        return score_bins.RULES

    def model_digest(self, request: ScoreHistogramRequest, platform: Platform) -> str | None:
        return score_bins.scores_of(platform).model_digest


def _size(group: int, audience: AudienceFacts, noisy: Cells | None) -> GroupSize:
    if audience.known_sizes is not None:
        return GroupSize(kind="known", value=audience.known_sizes[group])
    if noisy is not None:
        return GroupSize(kind="noisy", value=int(noisy[group]))
    return GroupSize(kind="bins")


KIND = PlatformKind(contract.KIND, ScoreHistogram())
