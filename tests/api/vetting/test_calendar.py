"""Periods across weekends, holidays, and the nights on which clocks are changed."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from api.vetting.calendar import Calendar
from tests.world import make_settings

BRUSSELS = ZoneInfo("Europe/Brussels")
PLAIN = Calendar(BRUSSELS)


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BRUSSELS)


def ends(text: str) -> datetime:
    """The first moment of a day, there."""
    return local(f"{text}T00:00:00").astimezone(UTC)


@pytest.mark.parametrize(
    ("event", "days", "after"),
    [
        ("2026-03-02T09:00", 1, "2026-03-04"),  # Monday: Tuesday is the day, over on Wednesday
        ("2026-03-02T23:59", 1, "2026-03-04"),  # whatever the hour
        ("2026-03-06T09:00", 1, "2026-03-10"),  # Friday: Monday
        ("2026-03-07T09:00", 1, "2026-03-10"),  # Saturday: Monday too
        ("2026-03-08T09:00", 5, "2026-03-14"),  # Sunday: that whole week
        ("2026-03-02T09:00", 5, "2026-03-10"),
        ("2026-03-02T09:00", 80, "2026-06-23"),  # sixteen weeks
    ],
)
def test_working_days_leave_weekends_out(event: str, days: int, after: str) -> None:
    assert PLAIN.after_working_days(local(event), days) == ends(after)


def test_holidays_do_not_count() -> None:
    easter = Calendar(BRUSSELS, frozenset({date(2026, 4, 3), date(2026, 4, 6)}))
    thursday = local("2026-04-02T10:00")
    assert PLAIN.after_working_days(thursday, 2) == ends("2026-04-07")
    assert easter.after_working_days(thursday, 2) == ends("2026-04-09")
    # A holiday on a weekend takes nothing away.
    sunday = Calendar(BRUSSELS, frozenset({date(2026, 4, 5)}))
    assert sunday.after_working_days(thursday, 2) == PLAIN.after_working_days(thursday, 2)


@pytest.mark.parametrize(
    ("event", "after"),
    [
        ("2026-03-02T09:00", "2026-03-18"),  # ends on a Tuesday
        ("2026-03-06T09:00", "2026-03-24"),  # would end on a Saturday: ends on Monday
        ("2026-03-07T09:00", "2026-03-24"),  # would end on a Sunday: ends on Monday
    ],
)
def test_plain_days_end_on_a_working_day(event: str, after: str) -> None:
    assert PLAIN.after_days(local(event), 15) == ends(after)


def test_plain_days_that_would_end_on_a_holiday_end_later() -> None:
    easter = Calendar(BRUSSELS, frozenset({date(2026, 4, 6)}))
    assert easter.after_days(local("2026-03-22T12:00"), 15) == ends("2026-04-08")


def test_the_day_of_the_event_can_count() -> None:
    monday = local("2026-03-02T09:00")
    assert PLAIN.after_working_days(monday, 1, counts_itself=True) == ends("2026-03-03")
    saturday = local("2026-03-07T09:00")
    assert PLAIN.after_working_days(saturday, 1, counts_itself=True) == ends("2026-03-10")


def test_a_period_ends_at_midnight_there_although_clocks_are_changed() -> None:
    """On 29 March 2026 clocks go forward, on 25 October back: the days have 23 and 25 hours."""
    spring = PLAIN.after_working_days(local("2026-03-27T09:00"), 1)
    assert spring == datetime(2026, 3, 30, 22, tzinfo=UTC)
    assert PLAIN.after_working_days(local("2026-03-26T09:00"), 1) == datetime(
        2026, 3, 27, 23, tzinfo=UTC
    )
    autumn = PLAIN.after_days(local("2026-10-11T09:00"), 15)
    assert autumn == datetime(2026, 10, 26, 23, tzinfo=UTC)


def test_the_day_is_the_one_of_the_time_zone() -> None:
    evening = datetime(2026, 3, 6, 23, 30, tzinfo=UTC)  # Saturday, 00:30, in Brussels
    assert PLAIN.after_working_days(evening, 1) == ends("2026-03-10")
    assert PLAIN.after_days(evening, 0) == ends("2026-03-10")
    utc = Calendar(ZoneInfo("UTC"))
    assert utc.after_days(evening, 0) == datetime(2026, 3, 7, tzinfo=UTC)


@given(
    event=st.datetimes(
        min_value=datetime(2020, 1, 1), max_value=datetime(2060, 1, 1), timezones=st.just(UTC)
    ),
    days=st.integers(1, 90),
    holidays=st.frozensets(st.dates(date(2020, 1, 1), date(2060, 12, 31)), max_size=5),
)
def test_a_period_has_exactly_the_given_working_days(
    event: datetime, days: int, holidays: frozenset[date]
) -> None:
    calendar = Calendar(BRUSSELS, holidays)
    due = calendar.after_working_days(event, days).astimezone(BRUSSELS)
    assert (due.hour, due.minute) == (0, 0)
    first, last = event.astimezone(BRUSSELS).date(), due.date() - timedelta(days=1)
    between = (first + timedelta(days=n) for n in range(1, (last - first).days + 1))
    assert sum(calendar.is_working_day(day) for day in between) == days
    assert calendar.is_working_day(last)


def test_the_calendar_comes_from_the_settings() -> None:
    settings = make_settings(
        "sqlite://",
        "http://127.0.0.1",
        time_zone="Europe/Dublin",
        holidays=["2026-03-17", "2026-12-25"],
    )
    calendar = Calendar.from_settings(settings)
    assert calendar.zone.key == "Europe/Dublin"
    assert not calendar.is_working_day(date(2026, 3, 17))
    assert calendar.is_working_day(date(2026, 3, 18))


@pytest.mark.parametrize("zone", ["Europe/Atlantis", "", "../etc/passwd", "/etc/localtime"])
def test_a_time_zone_that_there_is_not_is_refused(zone: str) -> None:
    with pytest.raises(ValidationError, match="time_zone"):
        make_settings("sqlite://", "http://127.0.0.1", time_zone=zone)


@pytest.mark.parametrize(
    ("due", "zone", "last"),
    [
        # In UTC the moment still lies on the last day, in Brussels it begins the next one.
        ("2026-03-17T23:00:00Z", "Europe/Brussels", date(2026, 3, 17)),
        ("2026-03-30T22:00:00Z", "Europe/Brussels", date(2026, 3, 30)),
        # West of Greenwich the moment has the date of the day after.
        ("2026-03-18T05:00:00Z", "America/Chicago", date(2026, 3, 17)),
        ("2026-03-18T00:00:00Z", "UTC", date(2026, 3, 17)),
    ],
)
def test_a_deadline_names_its_last_day_and_its_zone(due: str, zone: str, last: date) -> None:
    calendar = Calendar(ZoneInfo(zone))
    end = datetime.fromisoformat(due)
    assert calendar.last_day_before(end) == last
    assert calendar.end_of(last) == end
    assert calendar.end_in_words(end) == f"end of {last} ({zone})"
