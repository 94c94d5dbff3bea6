from fractions import Fraction

import pytest

from auditor_client import InputError
from auditor_client.errors import ContractError
from auditor_client.gap import fairness_gap
from openapi.models import Levels
from tests.auditor_client.examples import finished, price

COUNTS = {"g0": [40, 60, 0], "g1": [45, 54, 1]}
NAMED = {"man": [40, 60, 0], "woman": [45, 54, 1]}


def test_known_sizes_are_passed_on_as_exact() -> None:
    audit = finished(COUNTS, kind="known", sizes={"g0": 100, "g1": 100}, paid=price(1.0, None))
    sizes = {"man": 100, "woman": 100}
    assert audit.fairness_gap() == fairness_gap(NAMED, sizes=sizes, epsilon=1)


def test_noisy_sizes_are_passed_on_with_their_epsilon() -> None:
    audit = finished(COUNTS, kind="noisy", sizes={"g0": 98, "g1": 103}, paid=price(2.0, 4.0))
    expected = fairness_gap(
        NAMED,
        epsilon=0.5,
        delta=0.1,
        noisy_sizes={"man": 98, "woman": 103},
        size_epsilon=0.25,
    )
    assert audit.fairness_gap(delta=0.1) == expected


def test_without_sizes_the_bins_must_do() -> None:
    audit = finished(COUNTS, kind="bins", paid=price(1.0, None))
    assert audit.fairness_gap() == fairness_gap(NAMED, epsilon=1)


def test_the_scale_says_how_much_noise_there_is() -> None:
    # Three groups per person at epsilon 1: the scale is 3, and the analysis must use 1/3.
    assert finished(COUNTS, paid=price(3.0, None)).epsilon("bins") == Fraction(1, 3)


def test_unstated_noise_is_never_taken_for_none() -> None:
    audit = finished(COUNTS, kind="noisy", paid=price(1.0, None))
    with pytest.raises(ContractError, match="noise of its sizes"):
        audit.fairness_gap()


def test_one_group_has_no_gap() -> None:
    with pytest.raises(InputError, match="at least two groups"):
        finished({"g0": [1, 2, 0]}).fairness_gap()


def test_the_frame_has_a_row_per_group_and_bin() -> None:
    frame = finished(COUNTS).frame()
    assert frame.column_names == ["group", "low", "high", "count"]
    assert frame.to_pylist()[1:4] == [
        {"group": "man", "low": 0.5, "high": 1.0, "count": 60},
        {"group": "man", "low": None, "high": None, "count": 0},
        {"group": "woman", "low": 0.0, "high": 0.5, "count": 45},
    ]


def test_levels_are_named_by_their_value() -> None:
    audit = finished(COUNTS, bins=Levels(levels=[1, 2.5]))
    assert audit.bin_names() == ["1", "2.5", "outside"]
