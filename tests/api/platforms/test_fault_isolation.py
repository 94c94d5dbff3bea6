"""Calls that fail for some people: how many there are follows from the size of the batch."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.platforms.fault_isolation import call_isolating_failures
from api.platforms.interfaces import Persons

NOBODY = np.int64(-1)


class Counted:
    """Answers with everybody's number, fails for some, and counts the calls."""

    def __init__(self, *victims: int) -> None:
        self.victims = set(victims)
        self.about_somebody = self.about_nobody = 0

    def __call__(self, start: int, stop: int) -> Persons:
        if start == stop:
            self.about_nobody += 1
        else:
            self.about_somebody += 1
        if self.victims & set(range(start, stop)):
            raise ValueError("who is this?")
        return np.arange(start, stop)

    def serve(self, people: int) -> int:
        """Return the number of calls that serve everybody else."""
        found = call_isolating_failures(self, people, NOBODY)
        expected = [NOBODY if one in self.victims else one for one in range(people)]
        assert found.tolist() == expected
        return self.about_somebody + self.about_nobody


@pytest.mark.parametrize("people", [1, 2, 3, 5, 8, 13, 64, 100])
def test_a_failing_person_costs_as_many_calls_wherever_they_are(people: int) -> None:
    levels = math.ceil(math.log2(people))
    assert Counted().serve(people) == 1
    costs = {Counted(victim).serve(people) for victim in range(people)}
    assert costs == {1 + 4 * (3 * levels + 1)}


@given(st.integers(1, 60), st.sets(st.integers(0, 59), min_size=1, max_size=4))
def test_one_to_four_failing_people_cost_the_same(people: int, victims: set[int]) -> None:
    victims = {victim % people for victim in victims}
    levels = math.ceil(math.log2(people))
    assert Counted(*victims).serve(people) == 1 + 4 * (3 * levels + 1)


@given(st.integers(1, 60), st.sets(st.integers(0, 59), min_size=1))
def test_more_failing_people_show_the_range_of_their_number(people: int, victims: set[int]) -> None:
    victims = {victim % people for victim in victims}
    one = 3 * math.ceil(math.log2(people)) + 1
    cost = Counted(*victims).serve(people) - 1
    assert cost in {4**exponent * one for exponent in range(1, 5)}
    assert cost <= 4 * one * max(1, len(victims))


def test_answers_that_cannot_be_used_cost_the_same_as_errors() -> None:
    """One value for two people is no answer, and no error either."""
    calls = 0

    def short(start: int, stop: int) -> Persons:
        nonlocal calls
        calls += 1
        return np.arange(start, stop - (start <= 5 < stop))

    found = call_isolating_failures(short, 13, NOBODY)
    assert np.flatnonzero(found == NOBODY).tolist() == [5]
    assert calls == Counted(5).serve(13)


def test_nobody_is_one_call() -> None:
    counted = Counted()
    assert counted.serve(0) == 1
    assert counted.about_nobody == 1
