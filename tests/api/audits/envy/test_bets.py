"""The bounds by bets: as computed otherwise, and missed as rarely as stated."""

import math

import numpy as np
import pytest

from api.audits.envy.bets import (
    BETS,
    COARSE,
    DOWN,
    FINE_DOWN,
    FINE_TILTS,
    PRICE,
    REACH,
    TILTS,
    UP,
    growth,
    least_capital,
    mean_at_most,
    nearest,
    nearest_fine,
    prices,
    total_at_least,
)


def test_the_weights_of_all_pairs_of_bets_add_up_to_one() -> None:
    arm, baseline = np.arange(BETS)[:, None], COARSE[:, None] - 4 + np.arange(REACH)
    assert np.exp(-prices(arm, baseline)).sum() == pytest.approx(1)
    assert BETS * np.exp(-PRICE) == pytest.approx(1)


def test_bets_on_arms_are_among_those_on_the_baseline() -> None:
    assert FINE_TILTS[COARSE] == pytest.approx(TILTS)


def test_a_bet_grows_by_nothing_on_average_at_the_true_mean() -> None:
    values, chances = np.array([0.0, 0.25, 0.9, 1.0]), np.array([0.3, 0.3, 0.3, 0.1])
    up, down = growth(values[:, None], TILTS)
    mean = values @ chances
    assert chances @ np.exp(up) / (1 + UP * mean) == pytest.approx(1)
    assert chances @ np.exp(down) / (1 - DOWN * mean) == pytest.approx(1)


def test_rewards_of_0_and_1_take_the_short_way_to_the_same_growth() -> None:
    coins, others = np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1 - 1e-15])
    for short, long in zip(growth(coins, TILTS), growth(others, TILTS), strict=True):
        assert short == pytest.approx(long, rel=1e-9)
        assert short.shape == (BETS,)


def test_limits_are_where_the_capital_of_the_best_bet_reaches_its_price() -> None:
    rewards, level = np.random.default_rng(3).random(50), 0.01
    up, down = growth(rewards, TILTS)
    means = np.linspace(0, 1, 20_001)[1:-1, None]
    high = (down - PRICE - 50 * np.log1p(-DOWN * means)).max(axis=1) >= -math.log(level)
    low = (up - PRICE - 50 * np.log1p(UP * means)).max(axis=1) >= -math.log(level)
    n = np.array(50)
    assert mean_at_most(down, n, level) == pytest.approx(means[high][0, 0], abs=1e-4)
    assert total_at_least(up, n, level) == pytest.approx(50 * means[low][-1, 0], abs=5e-3)


def test_of_no_rewards_nothing_is_known() -> None:
    nothing = np.zeros(BETS)
    assert mean_at_most(nothing, np.array(0), 0.05) == 1
    assert total_at_least(nothing, np.array(0), 0.05) == 0


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_the_least_capital_is_the_least_over_all_means_that_deny_the_claim(margin: float) -> None:
    rng = np.random.default_rng(1)
    means = np.linspace(0, 1, 401)
    first, second = np.meshgrid(means, means, indexing="ij")
    denying = second >= first + margin - 1e-12
    for _ in range(40):
        n = rng.integers(1, 200, 2)
        up, down = rng.choice(UP), rng.choice(FINE_DOWN)
        capital = -n[0] * np.log1p(first * up) - n[1] * np.log1p(-second * down)
        least = capital[denying].min()
        found = least_capital(np.array(0.0), (n[0], n[1]), (up, down), margin)
        assert found <= least + 1e-9
        assert found == pytest.approx(least, abs=n.sum() * up / 400)


def test_the_nearest_bet_is_nearest_in_the_logarithm() -> None:
    wished = np.array([100.0, 2.0, 1.5, 1.4, 0.26, 1e-9])
    assert list(TILTS[nearest(wished)]) == [2.0, 2.0, 2.0, 1.0, 0.25, 2.0**-6]
    beside = np.full(3, 1)
    found = FINE_TILTS[nearest_fine(np.array([9.0, 0.3, 1e-9]), beside)]
    assert found == pytest.approx([2.0, 2.0**-1.75, 2.0 ** (1 - (REACH - 1) / 4)])


@pytest.mark.parametrize("shape", ["coins", "narrow"])
def test_limits_are_missed_at_some_time_as_rarely_as_stated(shape: str) -> None:
    runs, steps, level = 1500, 150, 0.1
    rng = np.random.default_rng(7)
    # Means that change from step to step, as when several arms are explored.
    means = rng.choice([0.1, 0.5, 0.6], (runs, steps))
    coins = (rng.random((runs, steps)) < means).astype(float)
    rewards = coins if shape == "coins" else means + 0.1 * (coins - means)
    above, below = np.zeros((runs, BETS)), np.zeros((runs, BETS))
    missed, steady = np.zeros(runs, bool), np.zeros(runs, bool)
    for step in range(steps):
        n, total = np.full(runs, step + 1), means[:, : step + 1].sum(axis=1)
        above += growth(rewards[:, step, None], TILTS)[0]
        missed |= total_at_least(above, n, level) > total
        below += growth((rng.random((runs, 1)) < 0.3).astype(float), TILTS)[1]
        steady |= mean_at_most(below, n, level) < 0.3
    # At most 150 of 1,500 on average; above 213 with probability below 1e-6.
    assert missed.sum() <= 213
    assert steady.sum() <= 213
    # The grid gives some away, but limits are no use if they never come near.
    assert steady.sum() >= 5
