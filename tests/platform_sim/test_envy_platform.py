"""Preferences, recommenders and policies of the simulated platform: the paper's sources of envy.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §5.1.
"""

import numpy as np
import pytest

from platform_sim.exploration.bandits import PROBLEMS, arms_of_people, equal_arms
from platform_sim.exploration.matrix_completion import complete
from platform_sim.exploration.policies import (
    best_item_policies,
    equal_utility_policies,
    softmax,
    utilities,
)
from platform_sim.exploration.preferences import learn, make_preferences


@pytest.fixture(scope="module")
def preferences() -> np.ndarray:
    return make_preferences(1, 150, 200, 24)


def envy(found: np.ndarray) -> float:
    return float((found.max(axis=1) - np.diagonal(found)).mean())


def test_a_matrix_of_low_rank_is_completed_from_a_part_of_it() -> None:
    rng = np.random.default_rng(0)
    whole = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 60))
    seen = (rng.random(whole.shape) < 0.4).astype(float)
    found = complete(whole, seen, 3, seed=1, ridge=1e-3, turns=40)
    assert np.abs(found - whole)[seen == 0].mean() < 0.05


def test_each_row_is_the_ridge_regression_of_its_confidences() -> None:
    rng = np.random.default_rng(1)
    values, confidence = rng.random((6, 5)), rng.random((6, 5))
    found = complete(values, confidence, 2, seed=3, ridge=0.3, turns=200)
    left = np.linalg.svd(found, full_matrices=False)
    assert left[1][2] < 1e-10
    other = complete(values, confidence, 2, seed=4, ridge=0.3, turns=200)
    assert (confidence * (found - other) ** 2).sum() < 1e-6


def test_preferences_are_chances_and_the_same_for_a_seed(preferences: np.ndarray) -> None:
    assert preferences.min() >= 0
    assert preferences.max() <= 1
    assert (make_preferences(1, 150, 200, 24) == preferences).all()
    assert preferences.max(axis=1).std() > 0.05


def test_one_factor_is_popularity_and_nobody_envies(preferences: np.ndarray) -> None:
    scores = learn(1, preferences, 1)
    assert (scores == scores[0]).all()
    assert envy(utilities(preferences, softmax(scores, 5))) == pytest.approx(0, abs=1e-12)


def test_envy_comes_with_a_model_too_small_and_goes_with_a_larger(preferences: np.ndarray) -> None:
    found = [
        envy(utilities(preferences, softmax(learn(1, preferences, f), 10))) for f in (1, 5, 40)
    ]
    assert found[1] > 0.03
    assert found[0] < found[2] < found[1] / 2


def test_the_best_policies_are_envy_free_and_equal_utility_is_not(preferences: np.ndarray) -> None:
    free, equal = (
        utilities(preferences, p)
        for p in (best_item_policies(preferences), equal_utility_policies(preferences, 20))
    )
    assert envy(free) == 0
    assert envy(equal) > 0.02
    assert np.diagonal(equal).sum() < np.diagonal(free).sum()
    assert np.diagonal(equal).std() < np.diagonal(free).std()


@pytest.mark.parametrize("penalty", [3.0, 20.0])
def test_the_cap_of_equal_utility_is_the_best_there_is(
    preferences: np.ndarray, penalty: float
) -> None:
    def worth(achieved: np.ndarray) -> float:
        return float(achieved.sum() - penalty / 2 * ((achieved - achieved.mean()) ** 2).sum())

    top = preferences.max(axis=1)
    found = np.diagonal(utilities(preferences, equal_utility_policies(preferences, penalty)))
    others = [worth(np.minimum(top, cap)) for cap in np.linspace(0.01, 1, 400)]
    assert worth(found) == pytest.approx(max(others), rel=1e-3)


def test_a_policy_is_a_distribution_and_sharpens_with_the_temperature() -> None:
    scores = np.array([[0.0, 1.0], [1000.0, 1001.0]])
    mild, sharp = softmax(scores, 1), softmax(scores, 10)
    assert mild.sum(axis=1) == pytest.approx([1, 1])
    assert mild[:, 1] == pytest.approx([1 / (1 + np.exp(-1))] * 2)
    assert (sharp[:, 1] > mild[:, 1]).all()


def test_the_four_problems() -> None:
    assert {number: int(means[1:].max() > means[0]) for number, means in PROBLEMS.items()} == {
        1: 0,
        2: 1,
        3: 0,
        4: 1,
    }
    assert PROBLEMS[3][1] == pytest.approx(0.7 - 0.7 * 0.1**0.6)
    assert list(PROBLEMS[4][:2]) == list(PROBLEMS[3][1::-1])


def test_rewards_have_their_means() -> None:
    rng, many = np.random.default_rng(0), np.ones(40_000, int)
    # Within 6 standard deviations: missed with probability below 1e-8.
    assert np.mean(equal_arms(np.array([0.0, 0.3]), rng)(many, many)) == pytest.approx(
        0.3, abs=0.014
    )
    table = np.array([[0.0, 0.0], [0.0, 0.7]])
    assert np.mean(arms_of_people(table, rng)(many, many)) == pytest.approx(0.7, abs=0.014)
