"""The estimators know the truth of distributions whose loss is known."""

import numpy as np
import pytest
from scipy.stats import binom

from tests.privacy_audit.estimate import clopper_pearson, epsilon_at_least, rho_at_least

RUNS = 200_000
rng = np.random.default_rng(20)


def test_the_bound_of_randomised_response_is_close_below() -> None:
    # False failure: the bound is above with 3e-8; it is 0.03 below only at ten deviations.
    ratio = 3.0
    yes = rng.random(RUNS) < ratio / (1 + ratio)
    no = rng.random(RUNS) < 1 / (1 + ratio)
    found = epsilon_at_least(yes.astype(float), no.astype(float))
    assert np.log(ratio) - 0.06 < found <= np.log(ratio)


def test_the_bound_of_a_gaussian_is_close_below() -> None:
    # Means 1 and 0, deviation 1: the ratio's logarithm is x − 1/2, and rho is 1/2.
    one, other = rng.normal(1, 1, RUNS) - 0.5, rng.normal(0, 1, RUNS) - 0.5
    found = rho_at_least(one, other)
    assert 0.43 < found <= 0.5


def test_equal_distributions_have_no_loss() -> None:
    one, other = rng.normal(size=(2, RUNS))
    assert epsilon_at_least(one, other) < 0.05
    assert rho_at_least(one, other) < 0.01


@pytest.mark.parametrize("probability", [0.001, 0.3, 0.999])
def test_clopper_pearson_covers(probability: float) -> None:
    runs, alarm = 500, 0.01
    hits = np.arange(runs + 1.0)
    low, high = clopper_pearson(hits, runs, alarm)
    weights = binom.pmf(hits, runs, probability)
    assert weights[low > probability].sum() <= alarm
    assert weights[high < probability].sum() <= alarm
