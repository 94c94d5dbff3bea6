import numpy as np
import pytest

from api.kinds.envy_freeness.algorithms.betting_bounds import (
    ARM_WEIGHTS,
    BASELINE_WEIGHTS,
    DOWN,
    TILTS,
    UP,
    capital,
)


@pytest.mark.parametrize("weights", [ARM_WEIGHTS, BASELINE_WEIGHTS])
def test_weights_add_up_to_one(weights: np.ndarray) -> None:
    assert np.exp(weights).sum() == pytest.approx(1)


@pytest.mark.parametrize("stakes", [UP, DOWN])
def test_no_bet_gains_or_loses_on_average_at_the_true_mean(stakes: np.ndarray) -> None:
    values, chances = np.array([0.0, 0.25, 0.9, 1.0]), np.array([0.3, 0.3, 0.3, 0.1])
    mean = values @ chances
    assert chances @ (1 + values[:, None] * stakes) == pytest.approx(1 + mean * stakes)
    assert (1 + values[:, None] * stakes > 0).all()


def test_bets_up_and_down_have_opposite_tilts() -> None:
    assert np.log1p(UP) == pytest.approx(TILTS)
    assert np.log1p(DOWN) == pytest.approx(-TILTS)


def test_the_capital_is_the_product_of_what_each_bet_made() -> None:
    rewards, mean = np.random.default_rng(0).random(20), 0.4
    each = np.prod((1 + rewards[:, None] * UP) / (1 + mean * UP), axis=0)
    grown = np.log1p(rewards[:, None] * UP).sum(axis=0)
    found = capital(ARM_WEIGHTS, grown, np.array(20), UP, np.array(mean))
    assert np.exp(found) == pytest.approx(np.exp(ARM_WEIGHTS) @ each)


def test_of_no_rewards_nothing_is_known() -> None:
    found = capital(BASELINE_WEIGHTS, np.zeros(len(UP)), np.array(0), DOWN, np.linspace(0, 1, 5))
    assert found == pytest.approx(np.zeros(5))
