"""Periods in days and in working days, in the time zone of the regulator.

A period begins on the day after the event, and ends with the last hour of its last day. Saturdays,
Sundays and public holidays are not working days. A period in plain days whose last day is not a
working day ends with the next working day  [Regulation (EEC, Euratom) No 1182/71, Article 3(4)].
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from api.kernel.settings import Settings

_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)
_SATURDAY = 5


@dataclass(frozen=True)
class Calendar:
    zone: ZoneInfo
    holidays: frozenset[date] = frozenset()

    @classmethod
    def from_settings(cls, settings: Settings) -> "Calendar":
        return cls(ZoneInfo(settings.time_zone), frozenset(settings.holidays))

    def is_working_day(self, day: date) -> bool:
        return day.weekday() < _SATURDAY and day not in self.holidays

    def after_days(self, event: datetime, days: int) -> datetime:
        """Return the first moment after this many days."""
        last = self._day_of(event) + days * _DAY
        while not self.is_working_day(last):
            last += _DAY
        return self.end_of(last)

    def after_working_days(
        self, event: datetime, days: int, *, counts_itself: bool = False
    ) -> datetime:
        """Return the first moment after this many working days.

        `counts_itself`: the event's own day counts as one.
        """
        last = self._day_of(event) - (_DAY if counts_itself else timedelta(0))
        while days > 0:
            last += _DAY
            days -= self.is_working_day(last)
        return self.end_of(last)

    def end_of(self, day: date) -> datetime:
        """Return the first moment of the next day, which may have 23 or 25 hours."""
        return datetime.combine(day + _DAY, time.min, self.zone).astimezone(UTC)

    def last_day_before(self, end: datetime) -> date:
        """Return the last day of a period that ends at this moment."""
        return (end - _INSTANT).astimezone(self.zone).date()

    def end_in_words(self, end: datetime) -> str:
        """Return the end as a day with its time zone, as people read a deadline."""
        return f"end of {self.last_day_before(end)} ({self.zone.key})"

    def _day_of(self, moment: datetime) -> date:
        return moment.astimezone(self.zone).date()
