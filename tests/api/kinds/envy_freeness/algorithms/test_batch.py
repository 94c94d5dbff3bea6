import copy
from typing import Any

import numpy as np
import pytest

from api.kinds.envy_freeness.algorithms import Terms, make_fleet
from api.kinds.envy_freeness.algorithms.batch import Fleet
from api.kinds.envy_freeness.algorithms.terms import Bounds
from platform_sim.exploration.bandits import PROBLEMS, equal_arms

BOTH = pytest.mark.parametrize("bounds", ["printed", "tight"])


def steps(fleet: Fleet[Any], count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rewards = equal_arms(PROBLEMS[3], rng)
    for _ in range(count):
        arms = fleet.ask(rng.random(len(fleet.people)))
        fleet.tell(rewards(np.repeat(fleet.people, fleet.block), np.repeat(arms, fleet.block)))


@BOTH
def test_a_fleet_goes_on_from_what_was_written_down(bounds: Bounds) -> None:
    terms = Terms(0.05, 0.05, 0.4, bounds=bounds)
    whole = make_fleet(terms, 9, 4)
    steps(whole, 60, seed=1)
    kept = copy.deepcopy((whole.rows, whole.step, whole.outcomes))
    assert all(len(array) == 4 for array in kept[0])
    steps(whole, 60, seed=2)
    other = make_fleet(terms, 9, 4)
    other.resume(*kept)
    steps(other, 60, seed=2)
    assert (other.rows.pulls == whole.rows.pulls).all()
    assert (other.rows.sums == whole.rows.sums).all()
    assert other.step == whole.step


@BOTH
def test_who_withdraws_takes_no_further_step_and_moves_nobody_else(bounds: Bounds) -> None:
    terms = Terms(0.05, 0.05, 0.4, bounds=bounds)
    fleet, alone = make_fleet(terms, 9, 3), make_fleet(terms, 9, 3)
    draws, rewards = np.full(3, 0.3), np.array([1.0, 0.0, 1.0])
    for step in range(80):
        if step == 40:
            fleet.drop(np.array([1]))
        for each in (fleet, alone):
            each.ask(draws[each.people])
            each.tell(rewards[each.people])
    assert list(fleet.people) == [0, 2]
    assert fleet.outcomes.verdicts[1] == "withdrawn"
    assert fleet.outcomes.steps[1] == fleet.outcomes.pulls[1].sum() == 40
    assert (fleet.rows.pulls == alone.rows.pulls[[0, 2]]).all()


@BOTH
def test_at_the_ceiling_everybody_ends_undecided(bounds: Bounds) -> None:
    rng = np.random.default_rng(0)
    fleet = make_fleet(Terms(0.05, 0.05, 0.4, bounds=bounds, ceiling=300), 9, 5)
    while len(fleet.people):
        fleet.ask(rng.random(5))
        fleet.tell(rng.random((5, fleet.block)) < 0.5)
    assert fleet.outcomes.verdicts == ["undecided"] * 5
    assert (fleet.outcomes.steps == 300).all()
    assert (fleet.outcomes.pulls.sum(axis=1) == 300).all()


@BOTH
def test_bad_rewards_are_mended_and_counted(bounds: Bounds) -> None:
    fleet = make_fleet(Terms(0.05, 0.05, 0.4, bounds=bounds), 3, 3)
    for bad in (np.nan, 4.0, -1.0):
        fleet.ask(np.zeros(3))
        fleet.tell([0.5, bad, 0.5])
    assert list(fleet.outcomes.mended) == [0, 3, 0]
    assert list(fleet.rows.sums.sum(axis=1)) == [1.5, 1.0, 1.5]


def test_as_many_rewards_as_were_asked_for() -> None:
    fleet = make_fleet(Terms(0.05, 0.05, 0.4), 3, 3)
    fleet.ask(np.zeros(3))
    with pytest.raises(ValueError, match=r"\(3, 1\).*\(2,\)"):
        fleet.tell([0.5, 0.5])


def test_the_true_cost_is_what_the_baseline_would_have_given() -> None:
    fleet = make_fleet(Terms(0.05, 0.05, 1.0, ceiling=500), 1, 1)
    while len(fleet.people):
        fleet.tell(np.array([0.5, 0.2])[fleet.ask(np.zeros(1))])
    explored = fleet.outcomes.pulls[0, 1]
    assert explored > 100
    assert fleet.outcomes.true_cost([0.5, 0.2]) == pytest.approx([0.3 * explored])
    assert fleet.outcomes.cost == pytest.approx([0.3 * explored])
