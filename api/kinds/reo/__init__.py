"""Equal opportunity ([DJHL25]): shown rows, by traffic and creators, and whether they were
positive.

Unit: one viewer (the person of the log), with at most `rows_per_person` = m rows in each of at most
`groups_per_person` = k groups of the audience. These limits cover default and random traffic, all
strategies and all days together. Creators are not a unit: the platform declares publicly the group
of each.

Sensitivity. A row has one strategy, one day and one group of creators, and is positive or not. It
adds one to exactly one cell of one group of the audience, `Reach(1, 1, 1)`. Two rows are at most 2
apart in L1 and in squared L2. `Bounds.rows` makes m rows and k groups of it: added, m·k in L1 and
m²·k in squared L2; changed, twice both. Rows that are not drawn change nothing. Requesting all
strategies and days at once costs nothing more: their cells are disjoint, and they share the m rows.

A row is positive if any of the requested signals is above one half. Random traffic of all requested
days is counted together, as the common denominator.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
    labels, eq. 5 (what is counted), Theorem C.4 (why random traffic is needed).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.kernel.errors import UnsupportedAuditError
from api.kinds.building_blocks import log_checks
from api.kinds.building_blocks.log_rows import (
    HELD_BYTES,
    Groups,
    SelectedRows,
    Selection,
    tabulate_rows,
)
from api.kinds.context import AuditContext
from api.kinds.protocol import KNOWN_AT_CHARGE, AudienceFacts, PlatformKind, plan_release
from api.platforms.interfaces import Log, Platform, Traffic
from openapi.kinds import reo as contract
from openapi.resources import GroupTraffics, ReoRequest, TrafficCounts
from privacy.tables.bounded_table import Cells, Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan

COUNTS = "counts"
MAX_CELLS = 20_000
RULES = (
    "A row is positive if any of the signals {signals} is above one half.",
    "Random traffic of all requested days is counted together.",
    "The {m} rows of a {person} are drawn from default and random traffic, all strategies and all"
    " days together.",
)


class Reo:
    sources = KNOWN_AT_CHARGE

    def offered_by(self, platform: Platform) -> bool:
        return platform.logs is not None and any(
            log.traffic and log.traffic.random for log in platform.logs.logs().values()
        )

    def check(self, request: ReoRequest, audience: AudienceFacts, platform: Platform) -> None:
        log = log_checks.check(request, request.signals, platform)
        traffic = _traffic(request, log)
        log_checks.check_words(request, log, traffic.strategy, request.strategies)
        _check_columns(request, traffic)
        _check_groups(request, log)
        if traffic.random in request.strategies:
            raise _refused(
                f"Random traffic is counted in any case: name no strategy {traffic.random!r}",
                case="random-traffic-named",
            )
        if request.days:
            log_checks.check_words(request, log, traffic.day or "", request.days)
        if len(request.groups) * (_slots(request) + 1) > MAX_CELLS:
            raise _refused(f"The request has more than {MAX_CELLS} counts: request fewer days")

    def plan(self, request: ReoRequest, audience: AudienceFacts) -> ReleasePlan:
        return plan_release(request, audience)

    def reduce(
        self,
        request: ReoRequest,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        traffic = _traffic(request, log_checks.log_of(request, context.platform))
        words = {
            **request.where,
            traffic.strategy: [*request.strategies, traffic.random or ""],
            request.creators: request.groups,
        }
        if request.days and traffic.day:
            words[traffic.day] = request.days
        asked = Selection(request.log, tuple(request.signals), words, request.rows_per_person)
        bounds = plan[COUNTS].bounds
        size = int(np.prod(bounds.shape[1:]))

        def reduce(group: Groups, rows: SelectedRows) -> Table:
            return Table.tally(bounds, cells(request, traffic, rows) + group * size)

        return {COUNTS: tabulate_rows(context, asked, membership, bounds, reduce)}

    def held_bytes(self, request: ReoRequest, audience: AudienceFacts) -> int:
        return HELD_BYTES

    def present(
        self,
        request: ReoRequest,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, Cells],
    ) -> dict[str, Any]:
        groups = [
            GroupTraffics(label=label, traffics=list(_presented(request, counts)))
            for label, counts in zip(audience.labels, released[COUNTS], strict=True)
        ]
        fields = {"log", "signals", "creators", "groups", "strategies", "days", "rows_per_person"}
        asked = request.model_dump(include=fields)
        asked["creator_groups"] = asked.pop("groups")
        return {**asked, "groups_per_person": audience.groups_per_person, "groups": groups}

    def rules(self, request: ReoRequest, platform: Platform) -> tuple[str, ...]:
        facts = {
            "signals": ", ".join(request.signals),
            "m": request.rows_per_person,
            "person": log_checks.log_of(request, platform).person,
        }
        return (*log_checks.rules(request, platform), *(rule.format(**facts) for rule in RULES))

    def model_digest(self, request: ReoRequest, platform: Platform) -> str | None:
        return log_checks.log_of(request, platform).model_digest


def cells(request: ReoRequest, traffic: Traffic, rows: SelectedRows) -> NDArray[np.intp]:
    """Return the flat cell of each row within its group of the audience."""
    strategy = slot = rows.words[traffic.strategy]
    if request.days and traffic.day:
        slot = strategy * len(request.days) + rows.words[traffic.day]
        # The last category of the selection is random traffic, whose days are counted together.
        slot = np.where(strategy == len(request.strategies), _slots(request), slot)
    positive = np.zeros(len(slot), np.bool_)
    for name in request.signals:
        positive |= rows.numbers[name] > 0.5
    return np.asarray((slot * len(request.groups) + rows.words[request.creators]) * 2 + positive)


def _slots(request: ReoRequest) -> int:
    return len(request.strategies) * max(len(request.days), 1)


def _presented(request: ReoRequest, counts: Cells) -> list[TrafficCounts]:
    days: list[str | None] = [*request.days] or [None]
    names = [(strategy, day) for strategy in request.strategies for day in days]
    return [
        TrafficCounts(
            strategy=strategy,
            day=day,
            negatives=[int(count) for count in rows[:, 0]],
            positives=[int(count) for count in rows[:, 1]],
        )
        for (strategy, day), rows in zip([*names, (None, None)], counts, strict=True)
    ]


def _traffic(request: ReoRequest, log: Log) -> Traffic:
    """Return the traffic of the log, which must have recommendations and random traffic."""
    if log.traffic is None:
        raise _refused(
            f"The log {request.log!r} does not hold recommendations", case="no-recommendations"
        )
    if log.traffic.random is None:
        raise _refused(
            f"The log {request.log!r} has no random traffic. Without it, nobody can tell whether"
            " relevant content reached people: content that was never shown has no label,"
            " and a fair and an unfair platform may have the same log",
            case="no-random-traffic",
        )
    return log.traffic


def _check_columns(request: ReoRequest, traffic: Traffic) -> None:
    if unknown := [name for name in request.signals if name not in traffic.signals]:
        raise _refused(
            f"{', '.join(map(repr, unknown))} is not a signal of {request.log!r}",
            case="not-a-signal",
        )
    if request.creators not in traffic.creators:
        raise _refused(
            f"{request.creators!r} is not a column of creators in {request.log!r}",
            case="not-a-group-of-creators",
        )
    if request.days and traffic.day is None:
        raise _refused(f"The log {request.log!r} has no days")
    days = [traffic.day] if request.days and traffic.day else []
    taken = {traffic.strategy, request.creators, *days}
    if again := sorted(taken & set(request.where)):
        raise _refused(
            f"{', '.join(map(repr, again))} is requested twice: leave it out of `where`",
            case="asked-twice",
        )


def _check_groups(request: ReoRequest, log: Log) -> None:
    log_checks.check_words(request, log, request.creators, request.groups)
    for name in ("signals", "groups", "strategies", "days"):
        if len(set(getattr(request, name))) != len(getattr(request, name)):
            raise _refused(f"`{name}` has a duplicate", case="named-twice")


def _refused(why: str, *, case: str | None = None) -> UnsupportedAuditError:
    return UnsupportedAuditError(
        f"{why}: see `logs` in the catalogue. Nothing was charged.", case=case
    )


KIND = PlatformKind(contract.KIND, Reo())
