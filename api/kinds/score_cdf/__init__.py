"""Cumulative score counts ([IKH23], eq. 5), by a consistent noisy tree.

Unit: one person, counted once in at most `groups_per_person` groups. Sensitivity: that many leaves;
the tree adds the nodes above them. The release has a running count up to the end of each bin. The
last count is of everybody, so the number of scored people needs no table of its own.

The leaves are ordered: the bins in their order, then "outside".

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, eq. 5.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.kinds.building_blocks import score_bins
from api.kinds.context import AuditContext
from api.kinds.protocol import KNOWN_AT_CHARGE, AudienceFacts, PlatformKind, plan_release
from api.platforms.interfaces import Platform
from openapi.kinds import score_cdf as contract
from openapi.resources import ScoreCdfRequest
from privacy.tables.bounded_table import Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan

TREE = "cdf"


class ScoreCdf:
    sources = KNOWN_AT_CHARGE

    def offered_by(self, platform: Platform) -> bool:
        return platform.scores is not None

    def check(self, request: ScoreCdfRequest, audience: AudienceFacts, platform: Platform) -> None:
        score_bins.check(request.bins, request.context, platform)

    def plan(self, request: ScoreCdfRequest, audience: AudienceFacts) -> ReleasePlan:
        return plan_release(request, audience)

    def reduce(
        self,
        request: ScoreCdfRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        [content] = contents
        bounds = plan[TREE].bounds
        table = score_bins.tally(
            content, request.bins, request.context, membership, context, bounds
        )
        return {TREE: table}

    def held_bytes(self, request: ScoreCdfRequest, audience: AudienceFacts) -> int:
        return 0

    def present(
        self,
        request: ScoreCdfRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, NDArray[np.float64]],
    ) -> dict[str, Any]:
        groups = score_bins.running_counts(audience.labels, released[TREE])
        return {"bins": request.bins, "groups": groups}

    def rules(self, request: ScoreCdfRequest, platform: Platform) -> tuple[str, ...]:
        return score_bins.RULES

    def model_digest(self, request: ScoreCdfRequest, platform: Platform) -> str | None:
        return score_bins.scores_of(platform).model_digest


KIND = PlatformKind(contract.KIND, ScoreCdf())
