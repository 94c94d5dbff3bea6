"""Platform half of `share-above`: count the people of each group above the threshold.

Unit: one person, in at most `groups_per_person` groups. A person is in one of two cells of each of
their groups, so that many cells move by one when they come or go.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.kinds.building_blocks.score_bins import scores_of
from api.kinds.building_blocks.scoring import require_scoring, score_isolating_failures
from api.kinds.building_blocks.table_sum import sum_tables
from api.kinds.context import AuditContext
from api.kinds.protocol import KNOWN_AT_CHARGE, AudienceFacts, PlatformKind
from api.platforms.interfaces import Platform
from privacy.plans import PlannedTable
from privacy.tables.bounded_table import Bounds, Cells, Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan, make_mechanisms
from share_above import contract
from share_above.contract import GroupShare, ShareAboveRequest

COUNTS = "counts"


class ShareAbove:
    sources = KNOWN_AT_CHARGE

    def offered_by(self, platform: Platform) -> bool:
        return platform.scores is not None

    def check(
        self, request: ShareAboveRequest, audience: AudienceFacts, platform: Platform
    ) -> None:
        """Refuse nothing: every threshold can be asked for."""

    def plan(self, request: ShareAboveRequest, audience: AudienceFacts) -> ReleasePlan:
        """Plan the table, its noise and its bounds, from the request and public facts alone."""
        public = audience.public
        bounds = Bounds.counts(
            (public.groups, 2), public.groups_per_person, fixed_slots=public.fixed_slots
        )
        epsilon = Fraction(request.epsilon)
        return make_mechanisms([PlannedTable(COUNTS, "discrete-laplace", bounds, epsilon)])

    def reduce(
        self,
        request: ShareAboveRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        """Score people in batches, and count them. A person without a score is not above."""
        [content] = contents
        bounds = plan[COUNTS].bounds

        def of_some(platform: Platform, some: Membership) -> Table:
            scores = scores_of(platform)
            usual = {name: values[0] for name, values in scores.context.items()}
            require_scoring(scores, content, usual)

            def tables() -> Iterator[Callable[[], Table]]:
                for group, persons in some.batches():
                    values = score_isolating_failures(scores, content, persons, usual)
                    yield partial(_counted, bounds, group, values > request.threshold)

            return sum_tables(bounds, some, tables())

        return {COUNTS: context.engine.sum_tables(membership, of_some)}

    def held_bytes(self, request: ShareAboveRequest, audience: AudienceFacts) -> int:
        return 0

    def present(
        self,
        request: ShareAboveRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, Cells],
    ) -> dict[str, Any]:
        """Return the fields that the release of this kind adds."""
        rows = zip(audience.labels, released[COUNTS], strict=True)
        groups = [
            GroupShare(label=label, above=int(above), others=int(others))
            for label, (above, others) in rows
        ]
        return {"threshold": request.threshold, "groups": groups}

    def rules(self, request: ShareAboveRequest, platform: Platform) -> tuple[str, ...]:
        return ("A person without a score counts among the others.",)

    def model_digest(self, request: ShareAboveRequest, platform: Platform) -> str | None:
        return scores_of(platform).model_digest


def _counted(bounds: Bounds, group: int, above: NDArray[np.bool_]) -> Table:
    return Table.tally(bounds, np.where(above, 0, 1) + 2 * group)


KIND = PlatformKind(
    contract.KIND,
    ShareAbove(),
    # What `platform-auditor kinds check` tries. Thresholds between, at and beyond the scores.
    requests=(
        {"threshold": 0.5, "epsilon": "1"},
        {"threshold": 1.0, "epsilon": "0.5"},
    ),
)
