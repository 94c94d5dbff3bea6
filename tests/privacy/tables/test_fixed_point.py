"""Fixed point: rounding as printed, cutting, and rows that keep their sum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from privacy.errors import BoundsError
from privacy.tables.fixed_point import FixedPoint, to_fixed_point, weights_of


def test_rounds_half_up_as_printed() -> None:
    numbers = FixedPoint(100, -10, 10).encode([0.005, -0.005, 1.234, -1.236, 0.0])
    assert numbers.tolist() == [1, 0, 123, -124, 0]


def test_cuts_what_lies_outside_and_what_is_no_number() -> None:
    numbers = FixedPoint(10, -1, 2).encode([5.0, -5.0, np.inf, -np.inf, np.nan])
    assert numbers.tolist() == [20, -10, 20, -10, 0]
    assert FixedPoint(10, -1, 2).bounds == (-10, 20)


def test_refuses_numbers_that_would_lose_digits() -> None:
    with pytest.raises(BoundsError):
        FixedPoint(2**50, 0, 100)


@given(arrays(np.float64, (7, 6), elements=st.floats(1e-6, 1.0)), st.integers(1, 10**6))
def test_a_probability_vector_keeps_its_sum(parts: np.ndarray, scale: int) -> None:
    probabilities = parts / parts.sum(axis=1, keepdims=True)
    weights = weights_of(probabilities, scale)
    assert np.all(weights.sum(axis=1) == scale)
    assert np.all(np.abs(weights - probabilities * scale) < 1 + 1e-6)
    assert np.all(weights >= 0)


def test_hard_labels_are_nothing_or_all() -> None:
    assert weights_of([[1, 0], [0, 1]], 1_000).tolist() == [[1_000, 0], [0, 1_000]]


@pytest.mark.parametrize("bad", [[[-0.1, 1.1]], [[np.nan, 1]], [0.5, 0.5]])
def test_refuses_what_is_no_table_of_probabilities(bad: list[list[float]]) -> None:
    with pytest.raises(BoundsError):
        weights_of(bad, 10)


def test_without_bounds_only_numbers_count() -> None:
    assert to_fixed_point([0.5, -0.5, 1.4999, np.nan, np.inf], 1).tolist() == [1, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("scale", "low", "high"), [(0, 0, 1), (-1, 0, 1), (1, 1, 0), (1, 0, np.nan)]
)
def test_refuses_a_scale_or_a_range_that_is_none(scale: int, low: float, high: float) -> None:
    with pytest.raises(BoundsError):
        FixedPoint(scale, low, high)


@pytest.mark.parametrize(("low", "high"), [(-(2**50), 0), (0, 2**50), (-(2**50), 2**50)])
def test_either_end_may_be_too_large_to_be_exact(low: float, high: float) -> None:
    with pytest.raises(BoundsError):
        FixedPoint(8, low, high)
    assert FixedPoint(7, low, high).bounds == (7 * low, 7 * high)


@pytest.mark.parametrize(("low", "high"), [(-1.5, 2.5), (0.0, 0.0), (1.0, 3.0), (-3.0, -1.0)])
def test_whatever_comes_in_the_integers_are_within_their_bounds(low: float, high: float) -> None:
    numbers = FixedPoint(10, low, high)
    wild = [np.nan, np.inf, -np.inf, 1e308, -1e308, low, high, 0.0, -0.0, 5e-324]
    encoded, (least, largest) = numbers.encode(wild), numbers.bounds
    assert (least, largest) == (round(10 * low), round(10 * high))
    assert least <= encoded.min()
    assert encoded.max() <= largest


def test_what_a_row_lacks_goes_to_its_largest_remainders() -> None:
    assert weights_of([[0.26, 0.27, 0.47]], 10).tolist() == [[2, 3, 5]]
    assert weights_of([[0.5, 0.5]], 3).tolist() == [[2, 1]]
    # A row that does not sum to one has its own sum rounded as a whole.
    assert weights_of([[0.24, 0.24]], 10).tolist() in ([[3, 2]], [[2, 3]])
    with pytest.raises(BoundsError):
        weights_of([[np.inf, 0.0]], 10)
