"""Table 5 of the paper in small: encrypted sums equal the plaintext, and the gaps are found."""

import numpy as np
import pytest

from replications.paper_5.lot_world import GAPS, SEED, LotFound, estimates, plain, read, world
from replications.paper_5.table_5 import encrypted, in_the_clear, terms_of


def test_a_small_table_5_is_exact_and_near_the_truth() -> None:
    made = world(1, queries=400, members=60)
    terms = terms_of(made)
    sums = encrypted(made, terms, workers=1)
    assert np.array_equal(sums, in_the_clear(made, terms))
    # The noise is that of 40,000 queries, so 400 of them have ten times the error: 1.5e-3, 6 of it.
    assert np.abs(estimates(sums) - GAPS).max() < 9e-3


def test_a_neighbour_that_is_too_far_away_is_caught() -> None:
    error = np.full(9, 1.5e-4)
    LotFound(GAPS + 2.9e-4, error).check(SEED)
    LotFound(GAPS + 8e-4, error).check(SEED + 1)
    with pytest.raises(AssertionError, match="3e-4"):
        LotFound(GAPS + 3.1e-4, error).check(SEED)
    with pytest.raises(AssertionError, match=r"5\.5 SE"):
        LotFound(GAPS + 8.3e-4, error).check(SEED + 1)


@pytest.mark.full
def test_table_5_in_full() -> None:
    made = world(SEED)
    terms = terms_of(made)
    sums = encrypted(made, terms)
    assert np.array_equal(sums, in_the_clear(made, terms))
    found = read(plain(made))
    assert np.array_equal(found.value, estimates(sums))
    found.check(SEED)
