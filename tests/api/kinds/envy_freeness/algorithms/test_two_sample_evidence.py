"""Evidence of two means: as found by a search, and wrong as rarely as stated."""

import numpy as np
import pytest

from api.kinds.envy_freeness.algorithms.betting_bounds import (
    ARM_WEIGHTS,
    BASELINE_WEIGHTS,
    DOWN,
    UP,
    Floats,
    capital,
)
from api.kinds.envy_freeness.algorithms.two_sample_evidence import Side, TangentLine, refuted

ENVY = TangentLine(1.0, 0.0)


def first(rewards: Floats) -> Side:
    return Side(ARM_WEIGHTS, UP, np.log1p(rewards[:, None] * UP).sum(axis=0), len(rewards))


def second(rewards: Floats) -> Side:
    return Side(BASELINE_WEIGHTS, DOWN, np.log1p(rewards[:, None] * DOWN).sum(axis=0), len(rewards))


def of(side: Side, means: Floats) -> Floats:
    return capital(side.weights, side.grown, np.array(side.pulls), side.stakes, means)


def least(one: Side, other: Side, line: TangentLine) -> float:
    """The least capital over all pairs of means that deny the allegation, by brute force."""
    means = np.linspace(0, 1, 1001)
    a, b = means[:, None], means
    both = of(one, means)[:, None] + of(other, means)
    return float(both[a <= line.slope * b + line.offset + 1e-12].min())


@pytest.mark.parametrize(
    "line", [ENVY, TangentLine(1.0, -0.05), TangentLine(0.3, 0.0), TangentLine(4.0, 0.0)]
)
@pytest.mark.parametrize("guess", [0.0, 0.45, 1.0])
def test_what_is_needed_is_reached_up_to_the_least_capital(line: TangentLine, guess: float) -> None:
    rng = np.random.default_rng(1)
    for shape in (1.0, 0.1):
        one = first(np.asarray(0.9 + shape * ((rng.random(40) < 0.9) - 0.9)))
        other = second(np.asarray(0.1 + shape * ((rng.random(200) < 0.1) - 0.1)))
        edge = least(one, other, line)
        assert edge > 3
        assert refuted(one, other, line, guess, edge - 0.05)
        # The grid of the search is coarse: the least is no more than it finds.
        assert not refuted(one, other, line, guess, edge + 1e-6)


def test_there_is_no_evidence_without_rewards_or_without_a_lead() -> None:
    ones, zeros, none = np.ones(30), np.zeros(30), np.zeros(0)
    assert refuted(first(ones), second(zeros), ENVY, 0.5, 9.0)
    for better, worse in ((zeros, ones), (ones, none), (none, zeros), (ones, ones)):
        assert not refuted(first(better), second(worse), ENVY, 0.5, 1e-9)


def test_small_variance_is_strong_evidence() -> None:
    coins = np.tile([0.0, 1.0], 20)
    steady = 0.5 + 0.05 * (coins - 0.5)
    assert refuted(first(steady + 0.2), second(steady), ENVY, 0.6, 4.0)
    assert not refuted(first(coins * 0.8 + 0.2), second(coins * 0.8), ENVY, 0.5, 4.0)


@pytest.mark.parametrize("shape", [1.0, 0.1])
def test_equal_means_are_told_apart_at_some_time_as_rarely_as_stated(shape: float) -> None:
    runs, steps, level = 400, 120, 0.1
    rng, told = np.random.default_rng(7), 0
    for _ in range(runs):
        rewards = 0.3 + shape * ((rng.random((2, steps)) < 0.3) - 0.3)
        up, down = (np.log1p(rewards[..., None] * stakes).cumsum(axis=1) for stakes in (UP, DOWN))
        told += any(
            refuted(
                Side(ARM_WEIGHTS, UP, up[0, n], n + 1),
                Side(BASELINE_WEIGHTS, DOWN, down[1, n], n + 1),
                ENVY,
                0.3,
                -np.log(level),
            )
            for n in range(steps)
        )
    # At most 40 of 400 on average; above 72 with probability below 1e-6.
    assert told <= 72


def test_a_sum_of_changing_means_is_missed_as_rarely_as_stated() -> None:
    # Constraint (3) has a sum of means of several arms: its average takes the place of the mean.
    runs, steps, level = 400, 120, 0.1
    rng, missed = np.random.default_rng(8), 0
    for _ in range(runs):
        means = rng.choice([0.1, 0.5, 0.6], steps)
        coins = rng.random(steps) < means
        grown = np.log1p(coins[:, None] * UP).cumsum(axis=0)
        n = np.arange(1, steps + 1)
        against = capital(ARM_WEIGHTS, grown, n, UP, means.cumsum() / n)
        missed += bool((against >= -np.log(level)).any())
    assert 0 < missed <= 72
