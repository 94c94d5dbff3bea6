"""Most skewed of several contents, by report noisy max: one price, for any number of contents.

For content j with counts c_j[group, bin] and weights w, the skew is

    u_j = max over bins y of |w_0 c_j[0, y] − w_1 c_j[1, y]|.

Unit: one person, in one group. Adding or removing a person changes one count of each content by
one, so each |…|, and with it each u_j, changes by at most max(w). Changing a person is removing one
and adding another: each u_j changes by at most 2 max(w). In a sample of exact size one person
displaces another of the same group. One count falls and another rises, which changes |…| in two
bins, but each by at most max(w); the bounds are the same. A value may rise while another falls.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from api.kernel.errors import UnsupportedAuditError
from api.kinds.building_blocks import score_bins
from api.kinds.context import AuditContext
from api.kinds.protocol import KNOWN_AT_CHARGE, AudienceFacts, PlatformKind, plan_release
from api.platforms.interfaces import Platform
from openapi.kinds import most_skewed as contract
from openapi.resources import MostSkewedRequest
from privacy.tables.bounded_table import Bounds, Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan

SKEW = "skew"


class MostSkewed:
    sources = KNOWN_AT_CHARGE

    def offered_by(self, platform: Platform) -> bool:
        return platform.scores is not None

    def check(
        self, request: MostSkewedRequest, audience: AudienceFacts, platform: Platform
    ) -> None:
        score_bins.check(request.bins, request.context, platform)
        if len(audience.labels) != 2 or audience.groups_per_person != 1:
            raise UnsupportedAuditError(
                "This audit needs two groups, and everybody in one of them. Nothing was charged.",
                case="not-two-groups",
            )

    def plan(self, request: MostSkewedRequest, audience: AudienceFacts) -> ReleasePlan:
        return plan_release(request, audience)

    def reduce(
        self,
        request: MostSkewedRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        cells = Bounds.counts((2, score_bins.count(request.bins) + 1), 1)
        weights = np.array([[request.weights[0]], [-request.weights[1]]])
        skews = [
            np.abs((tally.cells * weights).sum(axis=0)).max()
            for tally in (
                score_bins.tally(content, request.bins, request.context, membership, context, cells)
                for content in contents
            )
        ]
        return {SKEW: Table(plan[SKEW].bounds, np.array(skews, np.int64))}

    def held_bytes(self, request: MostSkewedRequest, audience: AudienceFacts) -> int:
        return 0

    def present(
        self,
        request: MostSkewedRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, int],
    ) -> dict[str, Any]:
        chosen = released[SKEW]
        return {"chosen": chosen, "chosen_digest": digests[chosen]}

    def rules(self, request: MostSkewedRequest, platform: Platform) -> tuple[str, ...]:
        return score_bins.RULES

    def model_digest(self, request: MostSkewedRequest, platform: Platform) -> str | None:
        return score_bins.scores_of(platform).model_digest


KIND = PlatformKind(contract.KIND, MostSkewed())
