"""Scores from an adapter that is wrong about some people: they are cut, the others are scored."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.kinds.building_blocks.scoring import score_isolating_failures
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Persons


class Adapter:
    """Person n scores n / 100, unless `answer` has another idea."""

    model_digest = "sha256:" + "0" * 64
    score_range = (0.0, 1.0)
    context: Mapping[str, list[str | float]] = {}

    def __init__(self, answer: Callable[[Persons], Any] = lambda persons: persons / 100) -> None:
        self.answer = answer
        self.calls = 0

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> Any:
        self.calls += 1
        return self.answer(persons)


def scored(adapter: Adapter, people: int = 40) -> list[float]:
    values = score_isolating_failures(adapter, {}, np.arange(people), {})
    assert values.dtype == np.float64
    return list(values)


def hundredths(people: int, without: set[int] = frozenset()) -> list[float]:  # type: ignore[assignment]
    return [np.nan if number in without else number / 100 for number in range(people)]


def failing_on(bad: set[int]) -> Callable[[Persons], Any]:
    def answer(persons: Persons) -> Any:
        if bad.intersection(persons.tolist()):
            raise RuntimeError(f"no profile for {persons}")
        return persons / 100

    return answer


def test_a_sound_adapter_is_asked_once() -> None:
    adapter = Adapter()
    assert scored(adapter) == hundredths(40)
    assert adapter.calls == 1


@given(st.sets(st.integers(0, 39)))
def test_people_who_break_a_call_are_dropped_alone(bad: set[int]) -> None:
    np.testing.assert_array_equal(scored(Adapter(failing_on(bad))), hundredths(40, bad))


def test_values_that_are_no_numbers_stay_outside_of_all_bins() -> None:
    odd = [np.nan, np.inf, -np.inf, 0.5]
    np.testing.assert_array_equal(scored(Adapter(lambda _: odd), 4), odd)


@pytest.mark.parametrize(
    "answer",
    [
        lambda persons: persons[:-1] / 100 if persons.size else [],
        lambda persons: [None if n == 3 else n / 100 for n in persons.tolist()],
        lambda persons: ["high" for _ in persons],
        lambda persons: np.zeros((persons.size, 2)),
        lambda persons: 0.5,
        lambda persons: None,
        lambda persons: [complex(0, 1)] * persons.size,
    ],
)
def test_an_answer_of_the_wrong_shape_or_type_is_never_raised(
    answer: Callable[[Persons], Any],
) -> None:
    values = scored(Adapter(answer))
    assert len(values) == 40
    assert all(np.isnan(value) or value == number / 100 for number, value in enumerate(values))


def test_an_adapter_that_fails_on_many_still_scores_everybody_else() -> None:
    # However many there are: one bad person more changes one value, never another person's.
    adapter = Adapter(failing_on(set(range(0, 4_000, 2))))
    values = np.asarray(scored(adapter, 4_000))
    assert np.isnan(values[::2]).all()
    assert not np.isnan(values[1::2]).any()


def test_a_platform_that_cannot_score_nobody_is_down() -> None:
    def down(persons: Persons) -> Any:
        raise ConnectionError("no route")

    with pytest.raises(PlatformDownError) as told:
        scored(Adapter(down))
    assert "no route" not in str(told.value)


def test_a_platform_that_is_said_to_be_down_because_of_somebody_is_not() -> None:
    def answer(persons: Persons) -> Any:
        if 7 in persons:
            raise PlatformDownError("person 7 is not to be had")
        return persons / 100

    np.testing.assert_array_equal(scored(Adapter(answer)), hundredths(40, {7}))


def test_a_platform_that_says_of_nobody_that_it_is_down_is_believed() -> None:
    def answer(persons: Persons) -> Any:
        raise PlatformDownError("it is left alone a while")

    with pytest.raises(PlatformDownError, match="left alone"):
        scored(Adapter(answer))


def test_no_people_are_no_calls_that_matter() -> None:
    assert scored(Adapter(), 0) == []
