"""The fleet, the one person and the oracle of the bench decide alike on the same rewards."""

from collections.abc import Iterator

import numpy as np
import pytest

from api.audits.envy import Terms
from api.audits.envy.fleet import Floats, Outcomes
from api.audits.envy.printed_fleet import PrintedFleet
from api.audits.envy.single import OnePerson
from bench.envy import oracle
from platform_sim.bandits import PROBLEMS


class Tape:
    """Draws and rewards fixed beforehand: that of the n-th pull of each arm of each target."""

    def __init__(self, means: Floats, targets: int, steps: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.draws = rng.random((targets, steps))
        self.rewards = (rng.random((targets, len(means), steps)) < means[:, None]).astype(float)


class Drawn(np.random.Generator):
    """A generator that reads its draws from a tape."""

    def __init__(self, draws: Floats) -> None:
        super().__init__(np.random.PCG64(0))
        self._draws: Iterator[float] = iter(draws)

    def random(self, *_: object, **__: object) -> float:  # type: ignore[override]
        return float(next(self._draws))


def play(terms: Terms, tape: Tape) -> Outcomes:
    targets, arms, _ = tape.rewards.shape
    fleet = PrintedFleet(terms, arms - 1, targets)
    while len(fleet.people):
        arm = fleet.ask(tape.draws[fleet.people, fleet.step])
        done = fleet.rows.pulls[np.arange(len(arm)), arm]
        fleet.tell(tape.rewards[fleet.people, arm, done])
    return fleet.outcomes


def alone(terms: Terms, tape: Tape, target: int) -> tuple[str, OnePerson]:
    person, verdict, rng = OnePerson(terms, 9), "running", Drawn(tape.draws[target])

    def reward(arm: int, _: np.random.Generator) -> float:
        return float(tape.rewards[target, arm, person.pulls[arm]])

    while verdict == "running" and person.steps != terms.ceiling:
        verdict = person.step(reward, rng)
    return verdict, person


def by_the_oracle(terms: Terms, tape: Tape, target: int) -> tuple[str, list[int]]:
    pulls, draws = [0, 0, 0], iter(tape.draws[target])

    def reward(arm: int) -> float:
        pulls[arm] += 1
        return float(tape.rewards[target, arm, pulls[arm] - 1])

    return oracle(terms, 2, reward, lambda: float(next(draws)))


@pytest.mark.parametrize(("problem", "alpha"), [(3, 0.4), (2, 0.1)])
def test_the_fleet_decides_like_one_person(problem: int, alpha: float) -> None:
    terms = Terms(0.05, 0.3, alpha, ceiling=2500)
    tape = Tape(PROBLEMS[problem], 2, 2500, seed=problem)
    outcomes = play(terms, tape)
    for target in range(2):
        verdict, person = alone(terms, tape, target)
        assert outcomes.verdicts[target] == (verdict if verdict != "running" else "undecided")
        assert list(outcomes.pulls[target]) == person.pulls
        assert outcomes.sums[target] == pytest.approx(person.sums)


def test_the_fleet_decides_like_the_oracle() -> None:
    terms = Terms(0.2, 1.0, 0.3, ceiling=2000)
    means = np.array([0.6, 0.1, 0.9])
    tape = Tape(means, 4, 2000, seed=1)
    outcomes = play(terms, tape)
    for target in range(4):
        found = outcomes.verdicts[target], list(outcomes.pulls[target])
        assert found == by_the_oracle(terms, tape, target)


def test_nothing_is_explored_before_the_baseline_has_earned_it() -> None:
    fleet = PrintedFleet(Terms(0.05, 0.05, 0.1), 3, 2)
    for step in range(1, 11):
        arm = fleet.ask(np.array([0.1, 0.9]))
        assert (arm > 0).all() == (step == 10)
        fleet.tell(np.ones(2))
