"""Patterns that raise a flag and patterns that do not, one rule at a time."""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from api.db import MandateRow
from api.oversight.flags.similar_audiences import Upload, find_similar_pairs
from api.oversight.flags.spending_spikes import Day, compute_even_pace, find_spikes
from api.oversight.flags.tiny_groups import Tiny, find_densest_window
from api.oversight.overview import forecast_exhaustion
from api.oversight.thresholds import THRESHOLDS
from api.oversight.time_range import TimeRange
from privacy.sketch import SIZE

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
YEAR = TimeRange(NOW - timedelta(days=365), NOW + timedelta(days=1))


def mandate(**fields: Any) -> MandateRow:
    plain: dict[str, Any] = {
        "id": "mandate",
        "epsilon_limit": Fraction(100),
        "spent": Fraction(0),
        "valid_from": NOW - timedelta(days=100),
        "valid_until": NOW + timedelta(days=100),
    }
    return MandateRow(**(plain | fields))


def days(*amounts: float, audits: int = 2) -> dict[date, Day]:
    first = date(2026, 1, 1)
    found = {first + timedelta(days=n): Day(Fraction(a), audits) for n, a in enumerate(amounts)}
    return {day: each for day, each in found.items() if each.spent}


def test_before_there_is_a_history_a_day_is_held_against_an_even_pace() -> None:
    assert compute_even_pace(mandate()) == Fraction(1, 2)
    assert compute_even_pace(mandate(renewal_days=10)) == 10
    assert compute_even_pace(mandate(valid_until=NOW - timedelta(days=99, hours=20))) == 100
    # Twenty is forty times the pace, and a fifth of the limit; nineteen is less than a fifth.
    [found] = find_spikes(mandate(), days(19, 20))
    assert (found.day, found.spent, found.usual) == (date(2026, 1, 2), Fraction(20), Fraction(1, 2))
    assert found.earlier_days == 0
    assert list(find_spikes(mandate(renewal_days=10), days(49))) == []
    assert len(list(find_spikes(mandate(renewal_days=10), days(50)))) == 1


def test_the_first_audits_of_a_mandate_are_no_spike() -> None:
    # Half of the limit is a hundred times an even pace.
    assert list(find_spikes(mandate(), days(50, audits=1))) == []
    assert list(find_spikes(mandate(), days(20, 0, 0, 20, 30, audits=1))) == []
    [burst] = find_spikes(mandate(), days(1, 1, 1, 1, 1, 50, audits=1))
    assert (burst.spent, burst.earlier_days) == (Fraction(50), 5)


def test_with_a_history_a_day_is_held_against_its_median() -> None:
    usual = days(4, 4, 4, 5, 6, 0, 0, 19.5, 22.5, 25)
    [first, second] = find_spikes(mandate(), usual)
    # The median of 4 4 4 5 6 19.5 is 4.5, then of those and 22.5 it is 5.
    assert (first.spent, first.usual, first.earlier_days) == (Fraction(45, 2), Fraction(9, 2), 6)
    assert (second.spent, second.usual, second.earlier_days) == (Fraction(25), Fraction(5), 7)
    assert list(find_spikes(mandate(), {})) == []


def test_the_date_of_exhaustion_goes_on_at_the_rate_of_the_last_thirty_days() -> None:
    half = mandate(spent=Fraction(50))
    assert forecast_exhaustion(half, Fraction(30), NOW) == (NOW + timedelta(days=50)).date()
    assert forecast_exhaustion(half, Fraction(0), NOW) is None
    # At this rate it ends first.
    assert forecast_exhaustion(half, Fraction(10), NOW) is None
    assert forecast_exhaustion(half, Fraction(1, 10**12), NOW) is None
    young = mandate(spent=Fraction(50), valid_from=NOW - timedelta(days=5))
    assert forecast_exhaustion(young, Fraction(50), NOW) == (NOW + timedelta(days=5)).date()
    all_of_it = mandate(spent=Fraction(100))
    assert forecast_exhaustion(all_of_it, Fraction(1), NOW) == NOW.date()


def test_what_renews_is_used_up_when_its_lifetime_limit_is() -> None:
    renewing = mandate(
        renewal="rolling", renewal_days=30, lifetime_limit=Fraction(300), spent=Fraction(200)
    )
    assert forecast_exhaustion(renewing, Fraction(60), NOW) == (NOW + timedelta(days=50)).date()


def tiny(*ago: float) -> list[Tiny]:
    return [Tiny(NOW - timedelta(days=n), f"audience{n}", 10) for n in ago]


def test_the_densest_stretch_of_thirty_days_counts() -> None:
    found = find_densest_window(tiny(100, 80, 71, 70.5, 51, 50.6, 20, 10), YEAR)
    assert [each.audience_id for each in found] == [
        "audience80",
        "audience71",
        "audience70.5",
        "audience51",
        "audience50.6",
    ]
    assert find_densest_window([], YEAR) == []


def test_a_stretch_ends_in_the_period_and_may_begin_before() -> None:
    recent = TimeRange(NOW - timedelta(days=15), NOW)
    found = find_densest_window(tiny(60, 59, 58, 57, 39, 12, 10, 0), recent)
    assert [each.audience_id for each in found] == ["audience39", "audience12", "audience10"]


def upload(name: str, hashes: list[int], auditor: str = "a", ago: int = 0) -> Upload:
    sketch = np.array(sorted(hashes), np.uint64)[:SIZE]
    return Upload(name, auditor, NOW - timedelta(days=ago), sketch)


def test_each_upload_is_flagged_with_the_most_similar_earlier_one() -> None:
    numbers = np.random.default_rng(5).integers(0, 2**63, 4_000).tolist()
    uploads = [
        upload("first", numbers[:2_000], ago=9),
        upload("other", numbers[2_000:], ago=8),
        upload("nearly", [*numbers[:1_950], *numbers[2_000:2_050]], ago=7),
        upload("same", numbers[:2_000], auditor="b", ago=6),
    ]
    found = [(new.audience_id, old.audience_id) for new, old, _ in find_similar_pairs(uploads)]
    assert found == [("nearly", "first"), ("same", "first")]


def test_very_many_alike_are_still_found_and_quickly() -> None:
    numbers = np.random.default_rng(6).integers(0, 2**63, 1_000).tolist()
    uploads = [upload(f"u{n:04d}", numbers, ago=1_000 - n) for n in range(1_000)]
    found = list(find_similar_pairs(uploads))
    assert len(found) == 999
    assert all(new.at > old.at for new, old, _ in found)


@pytest.mark.parametrize("name", ["tiny_group", "tiny_audiences", "burst_times", "burst_history"])
def test_thresholds_are_more_than_one(name: str) -> None:
    assert getattr(THRESHOLDS, name) > 1
