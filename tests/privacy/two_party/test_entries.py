"""Entries of a row: whatever comes in, what comes out is within the bounds that were priced."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.two_party.terms import Entries

rows = st.lists(st.lists(st.integers(-50, 50), min_size=3, max_size=3), min_size=1, max_size=5)


@given(rows, st.integers(-9, 0), st.integers(1, 9), st.integers(1, 30))
def test_rows_are_cut_to_the_bounds_of_each_and_of_all(
    given_rows: list[list[int]], low: int, high: int, total: int
) -> None:
    entries = Entries(low, high, total)
    found = entries.clip(np.array(given_rows, np.int64))
    assert found.min() >= low
    assert found.max() <= high
    assert np.abs(found).sum(axis=1).max() <= total
    # What is within the bounds stays as it is.
    assert (entries.clip(found) == found).all()


@pytest.mark.parametrize(
    ("row", "cut"),
    [
        ([9, 0, 0], [5, 0, 0]),
        ([-9, 0, 0], [-2, 0, 0]),
        ([4, 4, 4], [4, 2, 0]),
        ([1, -1, 2], [1, -1, 2]),
    ],
)
def test_what_is_too_much_is_cut_from_the_end(row: list[int], cut: list[int]) -> None:
    assert Entries(-2, 5, 6).clip(np.array([row])).tolist() == [cut]
