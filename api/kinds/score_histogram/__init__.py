"""Score histograms ([IKH23]): the distribution of relevance scores in each group.

Unit: one person. A person counts once in at most `groups_per_person` groups, in one bin or outside
all bins of each. So adding or removing a person changes the table of bins by at most that many.
Changing a person changes it by twice as many. In a sample of exact size both double, because one
person displaces another. The number of scored people per group is a table of its own with the same
sensitivity. Not everybody matches, so this number is as private as the bins, unless it is known.

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
