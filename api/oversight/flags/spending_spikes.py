"""Days that cost a mandate far more than is usual for it."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from statistics import median
from typing import NamedTuple

from sqlmodel import Session, col, select

from api.db import ChargeRow, MandateRow
from api.oversight.thresholds import THRESHOLDS
from api.oversight.time_range import TimeRange
from openapi.resources import Figure, Flag

# How far back of the period a day is compared.
_MEMORY = timedelta(days=90)
Days = dict[date, Fraction]


class Burst(NamedTuple):
    """A day, what it cost, what is usual, and the median of how many days that is (0 for none)."""

    day: date
    spent: Fraction
    usual: Fraction
    earlier_days: int


def spending_bursts(session: Session, period: TimeRange) -> Iterator[Flag]:
    by_mandate = _days(session, period)
    query = select(MandateRow).where(col(MandateRow.id).in_(by_mandate))
    for mandate in session.exec(query):
        for burst in bursts(mandate, by_mandate[mandate.id]):
            # Full days of UTC: the one in which the period begins is told as a whole.
            if period.since.date() <= burst.day and _midnight(burst.day) < period.until:
                yield _flag(mandate, burst)


def bursts(mandate: MandateRow, days: Mapping[date, Fraction]) -> Iterator[Burst]:
    """The days that are far above the mandate's own earlier days, or an even pace."""
    before: list[Fraction] = []
    for day in sorted(days):
        known = len(before) >= THRESHOLDS.burst_history
        usual = median(before) if known else even_pace(mandate)
        spent = days[day]
        large = spent >= Fraction(THRESHOLDS.burst_share) * mandate.limit
        if large and spent >= THRESHOLDS.burst_times * usual:
            yield Burst(day, spent, usual, len(before) if known else 0)
        before.append(spent)


def even_pace(mandate: MandateRow) -> Fraction:
    """The limit, spread over the days in which it holds."""
    days = mandate.renewal_days or (mandate.valid_until - mandate.valid_from).days
    return mandate.limit / max(1, days)


def _days(session: Session, period: TimeRange) -> dict[str, Days]:
    """What each mandate was charged on each day."""
    wide = TimeRange(period.since - _MEMORY, period.until)
    query = select(ChargeRow.mandate_id, ChargeRow.charged_at, col(ChargeRow.debit)).where(
        *wide.holds(ChargeRow.charged_at), col(ChargeRow.refunded_at).is_(None)
    )
    found: dict[str, Days] = {}
    for mandate_id, at, debit in session.exec(query.execution_options(yield_per=10_000)):
        days = found.setdefault(mandate_id, {})
        days[at.date()] = days.get(at.date(), Fraction(0)) + debit
    return found


def _flag(mandate: MandateRow, burst: Burst) -> Flag:
    spent, usual, limit = (_short(each) for each in (burst.spent, burst.usual, mandate.limit))
    usually = (
        f"the median of the {burst.earlier_days} earlier days with charges is {usual}"
        if burst.earlier_days
        else f"its limit of {limit}, spread evenly over its days, is {usual} a day"
    )
    return Flag(
        pattern="spending-burst",
        at=_midnight(burst.day),
        explanation=(
            f"On {burst.day} the mandate was charged {spent} of {mandate.currency}; {usually}. A "
            "study that runs all of its audits at once looks like this. All of it was within the "
            "limit: what is beyond it is refused."
        ),
        figures=[
            Figure(
                name=f"{mandate.currency} charged on the day, times what is usual",
                value=_short(burst.spent / burst.usual),
                threshold=Decimal(THRESHOLDS.burst_times),
            ),
            Figure(
                name="share of the limit charged on the day",
                value=_short(burst.spent / mandate.limit),
                threshold=THRESHOLDS.burst_share,
            ),
            Figure(name=f"{mandate.currency} charged on the day", value=spent),
            Figure(name=f"{mandate.currency} usual for a day", value=usual),
        ],
        auditor_ids=[mandate.auditor_id],
        mandate_id=mandate.id,
    )


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _short(amount: Fraction) -> Decimal:
    """For people to read: to six places, without trailing zeros."""
    text = f"{float(amount):.6f}".rstrip("0").rstrip(".")
    return Decimal(text)
