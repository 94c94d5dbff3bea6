"""Spending spikes: days that cost a mandate far more than is usual for it."""

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

# Time before the period whose days are used for comparison.
_MEMORY = timedelta(days=90)
# Without a history, one audit gives no pace: a day needs this many audits to be flagged.
_AUDITS_WITHOUT_HISTORY = 2


class Day(NamedTuple):
    """Amount that a mandate was charged on a day, and the number of audits."""

    spent: Fraction
    audits: int


Days = dict[date, Day]


class Burst(NamedTuple):
    """A day, its cost, and the amount it is compared with.

    `usual` is the median of `earlier_days` days. If there are too few of them, `earlier_days` is 0
    and `usual` is an even pace: the limit, spread over the days of its period.
    """

    day: date
    spent: Fraction
    usual: Fraction
    earlier_days: int


def flag_spending_spikes(session: Session, period: TimeRange) -> Iterator[Flag]:
    by_mandate = _days(session, period)
    query = select(MandateRow).where(col(MandateRow.id).in_(by_mandate))
    for mandate in session.exec(query):
        for burst in find_spikes(mandate, by_mandate[mandate.id]):
            # Whole days of UTC; the first day of the period is included completely.
            if period.since.date() <= burst.day and _midnight(burst.day) < period.until:
                yield _flag(mandate, burst)


def find_spikes(mandate: MandateRow, days: Mapping[date, Day]) -> Iterator[Burst]:
    """Yield the days far above the mandate's own earlier days.

    With too few earlier days, days with several audits are compared with an even pace. A single
    audit is not: a mandate is granted for audits, and its first one is not a spike.
    """
    before: list[Fraction] = []
    for day in sorted(days):
        known = len(before) >= THRESHOLDS.burst_history
        usual = median(before) if known else compute_even_pace(mandate)
        spent, audits = days[day]
        large = spent >= Fraction(THRESHOLDS.burst_share) * mandate.limit
        comparable = known or audits >= _AUDITS_WITHOUT_HISTORY
        if comparable and large and spent >= THRESHOLDS.burst_times * usual:
            yield Burst(day, spent, usual, len(before) if known else 0)
        before.append(spent)


def compute_even_pace(mandate: MandateRow) -> Fraction:
    """Return the limit, spread over the days of its period."""
    days = mandate.renewal_days or (mandate.valid_until - mandate.valid_from).days
    return mandate.limit / max(1, days)


def _days(session: Session, period: TimeRange) -> dict[str, Days]:
    """Return the charges of each mandate on each day of UTC."""
    wide = TimeRange(period.since - _MEMORY, period.until)
    query = select(ChargeRow.mandate_id, ChargeRow.charged_at, col(ChargeRow.debit)).where(
        *wide.holds(ChargeRow.charged_at), col(ChargeRow.refunded_at).is_(None)
    )
    found: dict[str, Days] = {}
    for mandate_id, at, debit in session.exec(query.execution_options(yield_per=10_000)):
        days = found.setdefault(mandate_id, {})
        spent, audits = days.get(at.date(), Day(Fraction(0), 0))
        days[at.date()] = Day(spent + debit, audits + 1)
    return found


def _flag(mandate: MandateRow, burst: Burst) -> Flag:
    spent, usual, limit = (_short(each) for each in (burst.spent, burst.usual, mandate.limit))
    if burst.earlier_days:
        against = "usual for a day"
        usually = f"the median of the {burst.earlier_days} earlier days with charges is {usual}"
    else:
        against = "of an even pace, because there are too few earlier days"
        usually = f"its limit of {limit}, spread evenly over its days, is {usual} per day"
    return Flag(
        pattern="spending-burst",
        at=_midnight(burst.day),
        explanation=(
            f"On {burst.day} the mandate was charged {spent} of {mandate.currency}; {usually}. A "
            "study that runs all its audits at once can be the reason. The charges were within the "
            "limit: the service refuses any charge above it."
        ),
        figures=[
            Figure(
                name=f"{mandate.currency} charged on the day, times the amount {against}",
                value=_short(burst.spent / burst.usual),
                threshold=Decimal(THRESHOLDS.burst_times),
            ),
            Figure(
                name="share of the limit charged on the day",
                value=_short(burst.spent / mandate.limit),
                threshold=THRESHOLDS.burst_share,
            ),
            Figure(name=f"{mandate.currency} charged on the day", value=spent),
            Figure(name=f"{mandate.currency} {against}", value=usual),
        ],
        auditor_ids=[mandate.auditor_id],
        mandate_id=mandate.id,
    )


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _short(amount: Fraction) -> Decimal:
    """Return the amount for people to read: at most six decimal places, without trailing zeros."""
    text = f"{float(amount):.6f}".rstrip("0").rstrip(".")
    return Decimal(text)
