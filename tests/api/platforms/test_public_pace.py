"""Public paces: a function of public numbers, longer for the late and for those after them."""

import pytest

from api.kernel.settings import Settings
from api.platforms.public_pace import LEVEL_SECONDS, STEP, Pace, ReleasePace
from tests.world import make_settings


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def settings(**given: float) -> Settings:
    return make_settings("sqlite://", "http://localhost", **given)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> Pace:
    return Pace(0.5, 1_000, clock)


@pytest.mark.parametrize(("identifiers", "seconds"), [(0, 0.5), (1, 0.501), (1_000, 1.5)])
def test_it_follows_from_the_number_of_identifiers(
    pace: Pace, identifiers: int, seconds: float
) -> None:
    assert pace.duration(identifiers) == pytest.approx(seconds)


def test_who_is_late_lengthens_the_time_of_those_after_it(pace: Pace) -> None:
    first = pace.duration(1_000)
    assert pace.extend(1_000, first) == pytest.approx(1.25 * first)
    assert pace.duration(1_000) == pytest.approx(1.25 * first)
    # Of one size class: 512 to 1,023 identifiers.
    assert pace.duration(600) == pytest.approx(1.25 * 1.1)
    assert pace.duration(511) == pytest.approx(0.5 + 0.511)
    assert pace.duration(1_024) == pytest.approx(0.5 + 1.024)


def test_several_that_are_late_at_the_same_time_lengthen_it_once(pace: Pace) -> None:
    first = pace.duration(1_000)
    [second] = {pace.extend(1_000, first) for _ in range(3)}
    assert pace.duration(1_000) == second == pytest.approx(1.25 * first)
    third = pace.extend(1_000, second)
    assert pace.duration(1_000) == third == pytest.approx(1.25**2 * first)


def test_a_level_falls_by_one_every_200_seconds(pace: Pace, clock: Clock) -> None:
    first = pace.duration(1_000)
    pace.extend(1_000, pace.extend(1_000, first))
    found = []
    for clock.now in (0, LEVEL_SECONDS - 1, LEVEL_SECONDS, 2 * LEVEL_SECONDS, 1e6):
        found.append(pace.duration(1_000) / first)
    assert found == [pytest.approx(STEP**level) for level in (2, 2, 1, 0, 0)]
    # One that began before and is still not ready counts by its own steps.
    assert pace.extend(1_000, STEP**4 * first) == pytest.approx(STEP**5 * first)
    assert pace.duration(1_000) == pytest.approx(STEP**5 * first)


@pytest.mark.parametrize(
    ("took", "released"),
    [(0.0, 1.04), (1.0, 1.04), (1.05, 1.3), (2.0, 1.04 * 1.25**3)],
)
def test_a_release_waits_for_its_public_time(clock: Clock, took: float, released: float) -> None:
    paced = ReleasePace(settings(audit_seconds=1.0, audit_rate=1_000), clock, clock.sleep)
    clock.now = took
    paced.wait(paced.due(0.0, "score-histogram", 40))
    assert clock.now == pytest.approx(released)
    # The next one takes as long, however fast it is ready; another kind does not.
    begun = clock.now
    paced.wait(paced.due(begun, "score-histogram", 40))
    assert clock.now - begun == pytest.approx(released)
    begun = clock.now
    paced.wait(paced.due(begun, "score-cdf", 40))
    assert clock.now - begun == pytest.approx(1.04)


def test_without_a_pace_a_release_waits_for_nothing(clock: Clock) -> None:
    paced = ReleasePace(settings(), clock, clock.sleep)
    clock.now = 7.0
    paced.wait(paced.due(0.0, "score-histogram", 40))
    assert clock.now == 7.0
