"""Balance histograms: the distribution, by group, of people's spent share of the lifetime cap.

Unit: one person, in at most `groups_per_person` = k groups; k is the sensitivity.

Proof. Given the requests so far, one person's data decide that person's balance and no other
(docs/explanation/guarantee.md, "Balances as an audit"). A person adds one to one cell in each of
their groups. Adding or removing a person changes k cells by one. Changing a person lowers k cells
by one and raises k by one. In a sample of exact size both double, because one person displaces
another. Debits by samples depend on others, so they are not part of the balance that is read.

The audit reads the balance at the time it runs, minus its own debit.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from api.kernel import failpoints
from api.kernel.errors import UnsupportedAuditError
from api.kernel.failpoints import Failpoint
from api.kinds.building_blocks import score_bins
from api.kinds.context import AuditContext
from api.kinds.protocol import KNOWN_AT_CHARGE, AudienceFacts, PlatformKind, plan_release
from api.platforms.interfaces import Platform
from openapi.kinds import balance_histogram as contract
from openapi.resources import BalanceHistogramRequest, Edges, GroupBalances
from privacy.tables.bounded_table import Cells, Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan

BALANCES = "balances"
RULES = (
    "A person counts by the share of the lifetime cap that audits of uploaded audiences, of all"
    " auditors, had debited when this audit ran. The debit of this audit is not included. Debits"
    " for samples that the platform drew are not included.",
    "People who could not be debited within the cap are left out. People missing from the counts"
    " may have matched nobody, or may be at the cap. Nobody can tell which.",
)


class BalanceHistogram:
    sources = KNOWN_AT_CHARGE

    def offered_by(self, platform: Platform) -> bool:
        return True

    def check(
        self, request: BalanceHistogramRequest, audience: AudienceFacts, platform: Platform
    ) -> None:
        score_bins.check_increasing(request.bins.edges)

    def plan(self, request: BalanceHistogramRequest, audience: AudienceFacts) -> ReleasePlan:
        return plan_release(request, audience)

    def reduce(
        self,
        request: BalanceHistogramRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        if context.balances is None:
            raise UnsupportedAuditError(
                "Only a worker can read balances, so this audit cannot run here."
            )
        bounds = plan[BALANCES].bounds
        # All balances are read at once, so that they are of one moment.
        shares = context.balances.shares(np.concatenate(membership.groups))
        failpoints.hit(Failpoint.RUNNING)
        group = np.repeat(np.arange(bounds.shape[0]), [len(each) for each in membership.groups])
        cell = score_bins.bin_of(shares, Edges(edges=request.bins.edges)) + group * bounds.shape[1]
        return {BALANCES: Table.tally(bounds, cell)}

    def held_bytes(self, request: BalanceHistogramRequest, audience: AudienceFacts) -> int:
        return 0

    def present(
        self,
        request: BalanceHistogramRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, Cells],
    ) -> dict[str, Any]:
        groups = [
            GroupBalances(
                label=label, counts=[int(count) for count in row[:-1]], outside=int(row[-1])
            )
            for label, row in zip(audience.labels, released[BALANCES], strict=True)
        ]
        return {"bins": request.bins, "groups": groups}

    def rules(self, request: BalanceHistogramRequest, platform: Platform) -> tuple[str, ...]:
        return RULES

    def model_digest(self, request: BalanceHistogramRequest, platform: Platform) -> str | None:
        return None


KIND = PlatformKind(contract.KIND, BalanceHistogram())
