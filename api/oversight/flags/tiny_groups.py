"""Flags for many audiences with a tiny group, by the uploads, never by the people found."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from sqlmodel import Session, col, func, select

from api.db import AudienceRow, GroupRow
from api.oversight.thresholds import THRESHOLDS
from api.oversight.time_range import TimeRange
from openapi.resources import Figure, Flag

_DAYS = timedelta(days=THRESHOLDS.tiny_days)


class Tiny(NamedTuple):
    """An audience, and the number of identifiers uploaded for its smallest group."""

    at: datetime
    audience_id: str
    members: int


def flag_tiny_groups(session: Session, period: TimeRange) -> Iterator[Flag]:
    """Yield a flag for each auditor with too many, about the window of days that has the most."""
    by_auditor: dict[str, list[Tiny]] = {}
    fewest = func.min(GroupRow.members)
    query = (
        select(AudienceRow.auditor_id, AudienceRow.sealed_at, AudienceRow.id, fewest)
        .join(GroupRow, col(GroupRow.audience_id) == AudienceRow.id)
        .where(AudienceRow.source == "upload")
        .where(*TimeRange(period.since - _DAYS, period.until).holds(AudienceRow.sealed_at))
        .group_by(col(AudienceRow.auditor_id), col(AudienceRow.sealed_at), col(AudienceRow.id))
        .having(fewest < THRESHOLDS.tiny_group)
        .order_by(col(AudienceRow.sealed_at), col(AudienceRow.id))
    )
    for auditor_id, at, audience_id, members in session.exec(query):
        if at is not None:
            by_auditor.setdefault(auditor_id, []).append(Tiny(at, audience_id, members))
    for auditor_id, found in by_auditor.items():
        most = find_densest_window(found, period)
        if len(most) >= THRESHOLDS.tiny_audiences:
            yield _flag(auditor_id, most)


def find_densest_window(found: list[Tiny], period: TimeRange) -> list[Tiny]:
    """Return the largest set within the window of days whose last audience is in the period."""
    best: list[Tiny] = []
    first = 0
    for last, tiny in enumerate(found):
        while found[first].at <= tiny.at - _DAYS:
            first += 1
        if tiny.at in period and last + 1 - first > len(best):
            best = found[first : last + 1]
    return best


def _flag(auditor_id: str, found: list[Tiny]) -> Flag:
    fewest = min(tiny.members for tiny in found)
    return Flag(
        pattern="tiny-audiences",
        at=found[-1].at,
        explanation=(
            f"{len(found)} audiences that were sealed within {THRESHOLDS.tiny_days} days have a "
            f"group of fewer than {THRESHOLDS.tiny_group} uploaded identifiers; the smallest has "
            f"{fewest}. A software test, a pilot study, or a rare group can be the "
            "reason. The noise on a small group is as wide as on a large one, so it hides "
            "each person as well. The number of identifiers that found somebody is unknown here."
        ),
        figures=[
            _figure("audiences with a tiny group", len(found), THRESHOLDS.tiny_audiences),
            _figure("identifiers in the smallest group", fewest, THRESHOLDS.tiny_group),
        ],
        auditor_ids=[auditor_id],
        audience_ids=[tiny.audience_id for tiny in found],
    )


def _figure(name: str, value: int, threshold: int) -> Figure:
    return Figure(name=name, value=Decimal(value), threshold=Decimal(threshold))
