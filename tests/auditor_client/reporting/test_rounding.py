"""Numbers as people read them: limits are rounded outwards, errors upwards."""

import math

import pytest

from auditor_client.reporting.rounding import (
    confidence,
    error,
    format_interval,
    join_words,
    lower,
    number,
    upper,
)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.1234, 0.4567, "between 0.12 and 0.46"),
        (0.12345, 0.12987, "between 0.1234 and 0.1299"),
        (12.3, 99.9, "between 12 and 100"),
        (0.5, math.inf, "at least 0.500"),
        (-math.inf, math.inf, "anywhere"),
    ],
)
def test_limits_show_their_width_and_are_rounded_outwards(
    low: float, high: float, words: str
) -> None:
    assert format_interval(low, high) == words


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3, "±3"), (0.01234, "±0.013"), (383_453.731, "±383,454"), (math.inf, "±∞"), (2.01, "±2.1")],
)
def test_an_error_is_rounded_up(value: float, shown: str) -> None:
    assert error(value) == shown


def test_what_is_not_finite_is_a_dash() -> None:
    assert [number(None), number(math.nan), lower(-math.inf), upper(math.inf)] == ["–"] * 4


def test_words_for_confidence_and_lists() -> None:
    assert confidence(0.05) == "95 % confidence"
    assert join_words(["a", "b", "c"]) == "a, b and c"
    assert join_words(["a"]) == "a"
    assert join_words([]) == ""
