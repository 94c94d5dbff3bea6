"""Match counts: the number of people of each group that the platform found.

Whether an identifier matched a person is private, so a match count is a release like any other.
Unit: one person, in at most `groups_per_person` groups, which is the sensitivity. (In a sample of
exact size the number is public, and does not change at all.)
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from api.kinds.context import AuditContext
from api.kinds.protocol import KNOWN_AT_CHARGE, AudienceFacts, PlatformKind, plan_release
from api.platforms.interfaces import Platform
from openapi.kinds import match_count as contract
from openapi.resources import GroupCount, MatchCountRequest
from privacy.tables.bounded_table import Cells, Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan

MATCHED = "matched"


class MatchCount:
    sources = KNOWN_AT_CHARGE

    def offered_by(self, platform: Platform) -> bool:
        return True

    def check(
        self, request: MatchCountRequest, audience: AudienceFacts, platform: Platform
    ) -> None:
        """Refuse nothing: every request of this kind can run."""

    def plan(self, request: MatchCountRequest, audience: AudienceFacts) -> ReleasePlan:
        return plan_release(request, audience)

    def reduce(
        self,
        request: MatchCountRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        counts = np.array([len(group) for group in membership.groups], np.int64)
        return {MATCHED: Table(plan[MATCHED].bounds, counts)}

    def held_bytes(self, request: MatchCountRequest, audience: AudienceFacts) -> int:
        return 0

    def present(
        self,
        request: MatchCountRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, Cells],
    ) -> dict[str, Any]:
        counts = zip(audience.labels, released[MATCHED], strict=True)
        return {"groups": [GroupCount(label=label, count=int(count)) for label, count in counts]}

    def rules(self, request: MatchCountRequest, platform: Platform) -> tuple[str, ...]:
        return ()

    def model_digest(self, request: MatchCountRequest, platform: Platform) -> str | None:
        return None


KIND = PlatformKind(contract.KIND, MatchCount())
