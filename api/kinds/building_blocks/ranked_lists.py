"""Ranked lists as an audit may read them: restricted to its own people, in every role (R4).

Unit: one person, as the viewer whose list it is and as a candidate in others' lists. People outside
the audience are not debited, so nothing is read about them: their lists are dropped, and their
positions in others' lists are blank. The metric caps how often a person counts in each role
(`privacy.metric_values`), by a random draw with a new secret for every audit.

Errors of an adapter never fail an audit (R2). People for whom it fails have no rows. A row without
a list or a position is dropped. If a number is missing, the position is blank. Numbers are clipped
to their public range.
"""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from api.kernel import failpoints
from api.kernel.errors import UnsupportedAuditError
from api.kernel.failpoints import Failpoint
from api.kinds.building_blocks import log_checks
from api.platforms.fault_isolation import iter_isolating_failures, require_platform_up
from api.platforms.interfaces import NOBODY, VIEWER, Log, Logs, Persons, Platform, Ranking
from api.platforms.row_exchange import PERSON, empty_table
from api.telemetry.metrics import adapter_call
from openapi.resources import RankedRows, SoftLot, SoftNdcg, SoftPot
from openapi.resources.catalogue import RankingOffer
from privacy.metric_values import ListRows
from privacy.metric_values.from_request import OfLists
from privacy.tables.membership import BATCH

VIEWERS = "At most {} lists of a person count, drawn at random."
CANDIDATES = "A person counts in at most {} places of other people's lists, drawn at random."
RULES = (
    "The lists are those of the log {log!r}. Privacy is counted per person, in every role in which"
    " people occur in them.",
    "People outside the audience, or above the lifetime cap, are treated as absent. Their lists do"
    " not count, and their places in other people's lists are blank.",
    "Without a person, their own lists would be absent, and their places in other people's lists"
    " would be blank. That other people would have been ranked differently is not counted.",
)
Numbers = NDArray[np.float64]


def check(request: RankedRows, numbers: Sequence[str], platform: Platform) -> Log:
    """Return the log, or refuse a log without lists and caps that do not suit its people."""
    log = log_checks.check_numbers(request, numbers, platform)
    sides = offer_of(log)
    if sides is None:
        raise _refused(
            f"The log {request.log!r} has no ranked lists, or not everybody in them can be"
            " protected: see `ranking` of `logs` in the catalogue",
            case="no-ranked-lists",
        )
    _check_cap("per_viewer", request.per_viewer, sides.viewers)
    _check_cap("per_candidate", request.per_candidate, sides.candidates)
    return log


def offer_of(log: Log) -> RankingOffer | None:
    """Return which sides of a log's lists are people; None without ranked lists."""
    if log.ranking is None:
        return None
    viewers = log.person == VIEWER
    return RankingOffer(
        viewers=viewers, candidates=not viewers or log.ranking.candidate is not None
    )


def rules(request: RankedRows) -> tuple[str, ...]:
    caps = ((VIEWERS, request.per_viewer), (CANDIDATES, request.per_candidate))
    stated = (rule.format(most) for rule, most in caps if most is not None)
    return (*(rule.format(log=request.log) for rule in RULES), *stated)


def columns_of(request: RankedRows) -> tuple[str, ...]:
    """Return the numeric columns of a row that the metric uses, in its order."""
    match request:
        case SoftNdcg() | SoftLot():
            return (request.relevance,)
        case SoftPot():
            return (request.score, request.outcome)
    raise TypeError(f"The metric of {request.log} has no lists.")


def values_of(
    request: RankedRows, metric: OfLists, persons: Persons, platform: Platform
) -> NDArray[np.int64]:
    """Return the values of these people, in order."""
    order = np.argsort(persons)
    source = log_checks.logs_of(platform)
    described = source.logs()[request.log]
    rows = _ListReader(source, request, described, persons[order]).everything()
    found = np.empty((len(persons), len(metric.layout.cells)), np.int64)
    found[order] = metric.values(rows, len(persons), secrets.randbits(63))
    return found


@dataclass(frozen=True)
class _ListReader:
    """Reader of the lists of an audit's people, who are sorted."""

    source: Logs
    request: RankedRows
    log: Log
    everyone: Persons

    def everything(self) -> ListRows:
        parts: list[ListRows] = []
        require_platform_up(lambda: parts.append(self._read(self.everyone[:0])))
        for start in range(0, max(1, len(self.everyone)), BATCH):
            batch = self.everyone[start : start + BATCH]
            parts += self._read_isolating_failures(batch)
            failpoints.hit(Failpoint.RUNNING)
        return ListRows.concatenate(parts)

    def _read_isolating_failures(self, batch: Persons) -> Iterator[ListRows]:
        found = iter_isolating_failures(
            lambda first, last: self._read(batch[first:last]), len(batch)
        )
        return (rows for _, _, rows in found)

    def _read(self, some: Persons) -> ListRows:
        ranking, numbers = self._ranking, columns_of(self.request)
        others = [ranking.candidate] if ranking.candidate else []
        wanted = list(dict.fromkeys([ranking.query, ranking.place, *numbers, *others]))
        with adapter_call("read"):
            batches = list(self.source.read(self.request.log, some, wanted))
        table = pa.Table.from_batches(batches) if batches else empty_table(wanted)
        placed = pc.and_(table[ranking.query].is_valid(), table[ranking.place].is_valid())
        asked = pc.is_in(table[PERSON].cast(pa.int64()), pa.array(some, pa.int64()))
        table = table.filter(pc.and_(placed, asked))
        owner = _whole(table[PERSON])
        listed = _whole(table[ranking.candidate]) if ranking.candidate else None
        of_viewers = self.log.person == VIEWER
        return ListRows.of(
            self.everyone,
            viewer=owner if of_viewers else None,
            query=_whole(table[ranking.query]),
            position=_whole(table[ranking.place]) - 1,
            candidate=listed if of_viewers else owner,
            numbers=np.column_stack([self._clipped(table, name) for name in numbers]),
        )

    @property
    def _ranking(self) -> Ranking:
        if self.log.ranking is None:
            raise TypeError(f"The log {self.request.log!r} has no lists.")
        return self.log.ranking

    def _clipped(self, table: pa.Table, name: str) -> Numbers:
        numbers = np.asarray(table[name].cast(pa.float64()), np.float64)
        return np.where(np.isfinite(numbers), np.clip(numbers, *self.log.numbers[name]), np.nan)


def _check_cap(name: str, cap: int | None, people: bool) -> None:
    if people and cap is None:
        raise _refused(
            f"{name} is required: that side of the lists has people", case=f"{name}-missing"
        )
    if not people and cap is not None:
        raise _refused(
            f"{name} must be left out: that side of the lists has no people",
            case=f"{name}-of-nobody",
        )


def _whole(column: pa.ChunkedArray) -> NDArray[np.int64]:
    return np.asarray(pc.fill_null(column.cast(pa.int64()), NOBODY), np.int64)


def _refused(why: str, *, case: str | None = None) -> UnsupportedAuditError:
    return UnsupportedAuditError(f"{why}. Nothing was charged.", case=case)
