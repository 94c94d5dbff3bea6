"""Size of a bias ([YSJ22]): the opportunities of each group if scores were corrected for it.

In each query (a job, a list) N rows had an opportunity. After correction, the N rows with the
highest corrected scores have one. The correction is public: the auditor took it from an earlier
release. By group, the table counts the rows that have an opportunity and, on request, sums their
ranks in parts of L, the number of places. Over all groups, it sums the outcomes that were and the
outcomes that would be.

Unit: one person of the log's role, in one group, with at most `rows_per_person` = m rows.

Sensitivity. One person displaces another, so the sensitivity is not counted in their own rows.
Suppose a row r is added. Ties are broken by score and then by the person's number, so the order of
two rows never depends on a third.

Without places. If r had no opportunity, N stays. Then r displaces one row of the corrected N or
none. Two counts change by one, and the corrected outcome by at most one: 3. If r had one, N grows
and r joins the N. The corrected N+1 are the corrected N and one more (r, or the next one). Two
counts change by one, and so do both outcomes at most: 4.

With L places lists end after min(N, L) rows. Take a list of n rows into which r is added at rank p,
and whose last row drops out. Two counts change by one. The ranks change by 2n ≤ 2L, which is 2
parts: p for r, one for each row from p on, and n for the last. The outcome changes by at most one.
If a list grows to n+1 ≤ L instead, one count changes, the ranks change by p + (n + 1 − p) ≤ L,
which is one part, and the outcome changes by at most one: 3. If r had no opportunity, it changes
the corrected list alone: 5. If it had one and N < L, both lists grow: 6. Otherwise both may drop a
row: 10. (Ranks are rounded to units by a monotone rule, so the ranks of rows that move by one
telescope as they do unrounded.)

m rows are added one after the other, with m times the change. Removing a row is the same as adding
it.

In all of this no cell changes by more than one (ranks that rise add up to n parts of L, and so do
those that fall), and a squared L2 norm is at most the L1 norm: f = 4 or 10. The cells of groups are
not disjoint, because rows of one displace those of another. So norms add up, not their squares. One
person added and another removed: 4f m²; where slots are fixed too, twice as far each, 16f m².

The table is not a sum over people: rows of all are collected before they are compared. It is a sum
over queries, so rows may be collected query by query.

[YSJ22] Yu, Saint-Jacques, Choosing an algorithmic fairness metric for an online marketplace, 2022,
    §4.1 (notifications at a fixed number per job), §4.2 (average rank).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from api.kernel.errors import UnsupportedAuditError
from api.kinds.building_blocks import log_checks, score_bins
from api.kinds.building_blocks.log_rows import (
    HELD_BYTES,
    SelectedRows,
    Selection,
    draw_rows,
    new_secret,
)
from api.kinds.context import AuditContext
from api.kinds.protocol import KNOWN_AT_CHARGE, AudienceFacts, PlatformKind, plan_release
from api.platforms.interfaces import Columns, Platform
from api.platforms.row_sampling import find_runs
from openapi.kinds import bias_size as contract
from openapi.resources import BiasSizeRequest, GroupMoved
from privacy.plans.bias_size import BIAS_UNIT
from privacy.tables.bounded_table import Cells, Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan

SUMS = "sums"
# Bytes of a row: its columns as read and as collected, and its positions in two orders.
ROW_BYTES: Final = 320
RULES = (
    "Within each query, opportunities are reassigned by corrected score to as many rows of the"
    " audience as had one. Rows of people outside the audience take no part, so this understates"
    " the effect on the platform where they compete too.",
    "If fewer rows of a person are drawn than they have, queries become smaller at random. Only the"
    " opportunities that are left in them are reassigned.",
)
Floats = NDArray[np.float64]


class BiasSize:
    sources = KNOWN_AT_CHARGE

    def offered_by(self, platform: Platform) -> bool:
        return platform.logs is not None

    def check(self, request: BiasSizeRequest, audience: AudienceFacts, platform: Platform) -> None:
        score_bins.check_increasing(request.bins.edges)
        log = log_checks.check(request, [request.query, request.score, request.outcome], platform)
        log_checks.check_range(request.outcome_range, *log.numbers[request.outcome])
        if audience.groups_per_person != 1:
            raise UnsupportedAuditError(
                "A bias-size audit needs everybody in exactly one group. Nothing was charged.",
                case="several-groups-per-person",
            )
        if sorted(each.label for each in request.corrections) != sorted(audience.labels):
            raise UnsupportedAuditError(
                f"Each of the groups {', '.join(audience.labels)} needs a correction; 0 is valid."
                " Nothing was charged.",
                case="corrections",
            )

    def plan(self, request: BiasSizeRequest, audience: AudienceFacts) -> ReleasePlan:
        return plan_release(request, audience)

    def reduce(
        self,
        request: BiasSizeRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        asked = Selection(
            request.log,
            (request.query, request.score, request.outcome),
            request.where,
            request.rows_per_person,
            optional=(request.outcome,),
        )
        secret, bounds, groups = new_secret(), plan[SUMS].bounds, len(membership.groups)

        def read(platform: Platform, some: Membership) -> Columns:
            return _gathered(draw_rows(log_checks.logs_of(platform), asked, some, secret), request)

        def reduce(rows: Columns) -> Table:
            return Table(bounds, moved(request, Scored(**rows), groups))

        return {SUMS: context.engine.total_by_key(membership, read, "query", reduce, asked.wanted)}

    def held_bytes(self, request: BiasSizeRequest, audience: AudienceFacts) -> int:
        """Return the memory for all rows, which are compared before any is counted."""
        return HELD_BYTES + ROW_BYTES * request.rows_per_person * audience.members

    def present(
        self,
        request: BiasSizeRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, Cells],
    ) -> dict[str, Any]:
        *of_groups, outcome, corrected = released[SUMS].tolist()
        names = ("given", "corrected", "given_ranks", "corrected_ranks")
        rows = np.reshape(of_groups, (len(audience.labels), -1)).tolist()
        groups = [
            GroupMoved(label=label, **dict(zip(names, row, strict=False)))
            for label, row in zip(audience.labels, rows, strict=True)
        ]
        asked = request.model_dump(
            include={"log", "bins", "corrections", "slopes", "outcome_range", "places"}
        )
        sums = {"outcome": outcome, "corrected_outcome": corrected, "groups": groups}
        return {**asked, "rows_per_person": request.rows_per_person, "unit": BIAS_UNIT, **sums}

    def rules(self, request: BiasSizeRequest, platform: Platform) -> tuple[str, ...]:
        return (*log_checks.rules(request, platform), *RULES)

    def model_digest(self, request: BiasSizeRequest, platform: Platform) -> str | None:
        return log_checks.log_of(request, platform).model_digest


@dataclass(frozen=True)
class Scored:
    """Rows of all people: group, person, query, score and outcome (NaN without an opportunity)."""

    group: NDArray[np.intp]
    person: NDArray[np.int64]
    query: Floats
    score: Floats
    outcome: Floats

    @property
    def given(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.outcome)


def _gathered(drawn: Iterable[tuple[int, SelectedRows]], request: BiasSizeRequest) -> Columns:
    """Return the columns of `Scored`, of all batches."""
    names = (request.query, request.score, request.outcome)
    pieces = [
        (np.full(len(rows.person), group), rows.person, *(rows.numbers[name] for name in names))
        for group, rows in drawn
    ]
    nothing = [np.empty(0, np.intp), np.empty(0, np.int64), *[np.empty(0)] * 3]
    columns = [np.concatenate(column) for column in zip(nothing, *pieces, strict=True)]
    return dict(zip(("group", "person", "query", "score", "outcome"), columns, strict=True))


def moved(request: BiasSizeRequest, rows: Scored, groups: int) -> Cells:
    """Return the cells: those of each group, then the two outcomes."""
    low, high = request.outcome_range.low, request.outcome_range.high
    corrected = np.clip(_corrected(request, rows, groups), low, high)
    given = rows.given
    _, query, size = np.unique(rows.query, return_inverse=True, return_counts=True)
    opportunities = np.bincount(query[given], minlength=len(size))
    if request.places is not None:
        opportunities = np.minimum(opportunities, request.places)
    before = _positions(query[given], rows.score[given], rows.score[given], rows.person[given])
    after = _positions(query, corrected, rows.score, rows.person)
    was, will = np.flatnonzero(given), np.arange(len(given))
    lists = [
        (who[keep], position[keep], value[who[keep]])
        for who, position, value in ((was, before, rows.outcome), (will, after, corrected))
        for keep in [position < opportunities[query[who]]]
    ]
    cells = [BIAS_UNIT * np.bincount(rows.group[who], minlength=groups) for who, _, _ in lists]
    if request.places is not None:
        cells += [
            np.bincount(
                rows.group[who], np.rint((position + 1) * (BIAS_UNIT / request.places)), groups
            )
            for who, position, _ in lists
        ]
    outcomes = [
        np.rint(BIAS_UNIT * (np.clip(value, low, high) - low) / (high - low)).sum()
        for _, _, value in lists
    ]
    return np.concatenate([np.stack(cells, axis=1).ravel(), outcomes]).astype(np.int64)


def _corrected(request: BiasSizeRequest, rows: Scored, groups: int) -> Floats:
    """Return scores with the public correction of their group and bin.

    A score outside all bins gets the correction of the nearest bin.
    """
    edges = np.asarray(request.bins.edges)
    bin_index = np.clip(np.searchsorted(edges, rows.score, side="right") - 1, 0, len(edges) - 2)
    by_label = {each.label: each.add for each in request.corrections}
    # Labels are g0, g1 …, in the order of the groups.
    add = np.array([by_label[label] for label in sorted(by_label, key=_number)])[:groups]
    slopes = np.asarray(request.slopes if request.slopes is not None else np.ones(len(edges) - 1))
    with np.errstate(over="ignore"):
        found = slopes[bin_index] * rows.score + add[rows.group, bin_index]
    return np.asarray(np.nan_to_num(found))


def _number(label: str) -> int:
    return int(label.removeprefix("g"))


def _positions(
    query: NDArray[np.intp], value: Floats, score: Floats, person: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Return the rank of each row in its query, from 0: by value from the highest, then by
    score.
    """
    order = np.lexsort((person, -score, -value, query))
    first, rows = find_runs(query[order])
    position = np.empty(len(order), np.intp)
    position[order] = np.arange(len(order)) - np.repeat(first, rows)
    return position


KIND = PlatformKind(contract.KIND, BiasSize())
