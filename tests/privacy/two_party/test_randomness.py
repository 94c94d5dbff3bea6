"""Randomness: the expansion by known answers, the rest by its moments."""

import json
from pathlib import Path

import numpy as np

from privacy.two_party import randomness

VECTORS = Path(__file__).parents[2] / "vectors" / "two_party" / "expansion.json"


def test_expansion_is_that_of_the_vectors() -> None:
    case = json.loads(VECTORS.read_text())
    primes = tuple(int(prime) for prime in case["primes"])
    rows = randomness.expand_label(bytes.fromhex(case["label"]), primes, case["degree"])
    assert [[str(word) for word in row] for row in rows] == case["rows"]


def test_errors_have_the_variance_that_security_was_reckoned_with() -> None:
    errors = randomness.draw_errors(100_000)
    assert np.abs(errors).max() <= randomness.LARGEST_ERROR
    # The mean has a standard error of .0102 and the variance one of .047: 6 of each, 2e-9.
    assert abs(errors.mean()) < 0.062
    assert abs(errors.var() - 10.5) < 0.29


def test_ternary_numbers_are_uniform() -> None:
    counts = np.bincount(randomness.uniform_ternary(90_000) + 1, minlength=3)
    # Each count has a standard deviation of 142: 6 of it, three times, 6e-9.
    assert np.all(np.abs(counts - 30_000) < 850)


def test_numbers_below_a_modulus_stay_below_it_and_fill_it() -> None:
    numbers = randomness.uniform_below(5, 10_000)
    # A count of 2,000 has a standard deviation of 40: 6 of it.
    assert np.all(np.abs(np.bincount(numbers.astype(np.int64), minlength=5) - 2_000) < 240)
    assert {randomness.uniform_within(1) for _ in range(200)} == {-1, 0, 1}  # 3 · (2/3)^200 = 2e-35


def test_a_permutation_moves_everybody_everywhere() -> None:
    first = [int(randomness.draw_permutation(4)[0]) for _ in range(400)]
    # A count of 100 has a standard deviation of 8.7: 6 of it.
    assert np.all(np.abs(np.bincount(first, minlength=4) - 100) < 52)
