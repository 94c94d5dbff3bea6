import inspect

import numpy as np
import pytest

from api.kinds.envy_freeness import algorithms
from api.kinds.envy_freeness.algorithms import TermsError, least_steps, ocef
from api.kinds.envy_freeness.algorithms.terms import Bounds, Terms
from platform_sim.exploration.bandits import PROBLEMS

BOTH = pytest.mark.parametrize("bounds", ["printed", "tight"])


def play(means: np.ndarray, bounds: Bounds, ceiling: int | None = None) -> algorithms.Outcome:
    return ocef(
        lambda arm, rng: float(rng.random() < means[arm]),
        arms=len(means) - 1,
        delta=0.05,
        epsilon=0.05,
        alpha=0.4,
        bounds=bounds,
        ceiling=ceiling,
        rng=np.random.default_rng(1),
    )


@BOTH
@pytest.mark.parametrize("problem", [1, 4])
def test_verdict_steps_cost_and_pulls(problem: int, bounds: Bounds) -> None:
    means = PROBLEMS[problem]
    found = play(means, bounds)
    assert found.verdict == ("no-envy" if problem == 1 else "envy")
    assert found.steps == found.pulls.sum()
    assert found.pulls.shape == (10,)
    true = found.steps * means[0] - found.pulls @ means
    # The baseline's mean and the explored rewards each stray by some √N/2.
    assert found.cost == pytest.approx(true, abs=6 * found.steps**0.5)


@BOTH
def test_a_ceiling_ends_it_undecided(bounds: Bounds) -> None:
    found = play(np.full(3, 0.5), bounds, ceiling=400)
    assert (found.verdict, found.steps) == ("undecided", 400)


@BOTH
def test_too_few_steps_ever_to_decide_are_refused_beforehand(bounds: Bounds) -> None:
    fewest = least_steps(Terms(0.05, 0.05, 0.4, bounds=bounds), 9)
    shown: list[int] = []

    def reward(arm: int, _: np.random.Generator) -> float:
        shown.append(arm)
        return 0.0

    with pytest.raises(TermsError, match=rf"\b{fewest}\b"):
        ocef(
            reward,
            arms=9,
            delta=0.05,
            epsilon=0.05,
            alpha=0.4,
            bounds=bounds,
            ceiling=fewest - 1,
        )
    assert shown == []


@BOTH
def test_the_clearest_rewards_come_close_to_the_fewest_steps(bounds: Bounds) -> None:
    fewest = least_steps(Terms(0.05, 0.05, 0.4, bounds=bounds), 1)
    found = play(np.array([0.0, 1.0]), bounds)
    assert fewest <= found.steps <= 2 * fewest


@BOTH
def test_rewards_that_are_no_numbers_count_as_nothing(bounds: Bounds) -> None:
    found = ocef(
        lambda arm, _: float("nan") if arm else 5.0,
        arms=2,
        delta=0.05,
        epsilon=0.05,
        alpha=0.4,
        bounds=bounds,
    )
    assert found.verdict == "no-envy"


def test_fewer_than_two_people_are_refused() -> None:
    with pytest.raises(TermsError, match=r"^arms\b"):
        ocef(lambda arm, rng: 0.0, arms=0, delta=0.05, epsilon=0.05, alpha=0.1)


def test_public_names() -> None:
    assert inspect.isfunction(algorithms.ocef)
    assert inspect.isfunction(algorithms.beta)
    assert inspect.isfunction(algorithms.audit_size)
    assert all(hasattr(algorithms, name) for name in algorithms.__all__)
