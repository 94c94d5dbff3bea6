import numpy as np
import pytest
from scipy import stats

from auditor_client import InputError, two_party
from tests.refusals import refuses


def test_one_member_is_one_less_the_chance_of_none() -> None:
    assert two_party.at_least(np.array([0.5, 0.2, 0.1])) == pytest.approx(1 - 0.5 * 0.8 * 0.9)
    assert two_party.at_least(np.array([1.0, 0.0])) == 1.0
    assert two_party.at_least(np.array([])) == 0.0


@pytest.mark.parametrize("threshold", [1, 2, 30, 60, 61])
def test_equal_probabilities_are_binomial(threshold: int) -> None:
    found = two_party.at_least(np.full(60, 0.4), threshold)
    assert found == pytest.approx(stats.binom.sf(threshold - 1, 60, 0.4), abs=1e-12)


def test_unequal_probabilities_agree_with_all_cases() -> None:
    p = np.array([0.9, 0.05, 0.3, 0.6, 0.0])
    cases = np.array(np.meshgrid(*[[0, 1]] * 5)).reshape(5, -1).T
    chance = np.prod(np.where(cases == 1, p, 1 - p), axis=1)
    for threshold in range(7):
        expected = chance[cases.sum(axis=1) >= threshold].sum()
        assert two_party.at_least(p, threshold) == pytest.approx(expected, abs=1e-12)


def test_what_is_no_probability_is_refused() -> None:
    with refuses(InputError, "probability-per-person"):
        two_party.at_least(np.array([0.5, 1.5]))
