"""Cumulative counts of logged rows by a numeric column: private quantiles, for choosing bins.

Unit: one person of the log's role, with at most `rows_per_person` = m rows in each of at most
`groups_per_person` groups. Sensitivity: one row is one leaf, so m leaves in each group; the tree
adds the nodes above them. The leaves are ordered: the bins in their order, then "outside".
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
from openapi.kinds import log_cdf as contract
from openapi.resources import LogCdfRequest
from privacy.tables.bounded_table import Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan

TREE = "cdf"


class LogCdf:
    sources = KNOWN_AT_CHARGE

    def offered_by(self, platform: Platform) -> bool:
        return platform.logs is not None

    def check(self, request: LogCdfRequest, audience: AudienceFacts, platform: Platform) -> None:
        score_bins.check_increasing(request.bins.edges)
        log_checks.check(request, [request.column], platform)

    def plan(self, request: LogCdfRequest, audience: AudienceFacts) -> ReleasePlan:
        return plan_release(request, audience)

    def reduce(
        self,
        request: LogCdfRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        bounds = plan[TREE].bounds
        asked = Selection(request.log, (request.column,), request.where, request.rows_per_person)

        def reduce(group: Groups, rows: SelectedRows) -> Table:
            bin_index = score_bins.bin_of(rows.numbers[request.column], request.bins)
            return Table.tally(bounds, bin_index + group * bounds.shape[1])

        return {TREE: tabulate_rows(context, asked, membership, bounds, reduce)}

    def held_bytes(self, request: LogCdfRequest, audience: AudienceFacts) -> int:
        return HELD_BYTES

    def present(
        self,
        request: LogCdfRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, NDArray[np.float64]],
    ) -> dict[str, Any]:
        groups = score_bins.running_counts(audience.labels, released[TREE])
        asked = request.model_dump(include={"log", "column", "bins", "rows_per_person"})
        return {**asked, "groups": groups}

    def rules(self, request: LogCdfRequest, platform: Platform) -> tuple[str, ...]:
        return log_checks.rules(request, platform)

    def model_digest(self, request: LogCdfRequest, platform: Platform) -> str | None:
        return log_checks.log_of(request, platform).model_digest


KIND = PlatformKind(contract.KIND, LogCdf())
