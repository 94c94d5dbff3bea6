"""Searches for numbers of people."""

import math

import pytest

from auditor_client.planning.root_finding import find_least_whole


@pytest.mark.parametrize("guess", [1, 40, 78, 79, 500])
def test_the_least_number_is_found_from_any_guess_in_few_steps(guess: int) -> None:
    asked = []

    def value(people: int) -> float:
        asked.append(people)
        return -math.inf if people < 5 else math.log(people / 78.4) * 4

    assert find_least_whole(value, guess) == 79
    assert len(asked) == len(set(asked)) <= 12


def test_one_is_the_least_number_there_is() -> None:
    assert find_least_whole(lambda people: float(people), 30) == 1
