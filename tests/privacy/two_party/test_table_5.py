"""Table 5 of the paper in small: encrypted sums equal the plaintext, and the gaps are found."""

import numpy as np
import pytest

from bench import table_5


def test_a_small_table_5_is_exact_and_near_the_truth() -> None:
    made = table_5.data(1, queries=400, members=60, resamples=20)
    sums = table_5.encrypted(made, workers=1)
    assert np.array_equal(sums, table_5.in_the_clear(made))
    found = table_5.gaps(sums)
    # The noise is that of 40,000 queries, so 400 of them have ten times the error: 1.5e-3, 6 of it.
    assert np.all(np.abs(found.estimate - table_5.GAPS) < 9e-3)


def test_whoever_is_too_far_away_is_caught() -> None:
    error = np.full(9, 1.5e-4)
    table_5.check(table_5.Gaps(table_5.GAPS + 2.9e-4, error), table_5.SEED)
    table_5.check(table_5.Gaps(table_5.GAPS + 8e-4, error), table_5.SEED + 1)
    with pytest.raises(AssertionError, match="3e-4"):
        table_5.check(table_5.Gaps(table_5.GAPS + 3.1e-4, error), table_5.SEED)
    with pytest.raises(AssertionError, match=r"5\.5 SE"):
        table_5.check(table_5.Gaps(table_5.GAPS + 8.3e-4, error), table_5.SEED + 1)


@pytest.mark.long
def test_table_5_in_full() -> None:
    made = table_5.data(table_5.SEED)
    sums = table_5.encrypted(made)
    assert np.array_equal(sums, table_5.in_the_clear(made))
    table_5.check(table_5.gaps(sums), table_5.SEED)
