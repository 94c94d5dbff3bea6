"""The fleet, the one person and the oracle of the bench decide alike on the same rewards."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from api.kinds.envy_freeness.algorithms import Terms, paper_batch, run
from api.kinds.envy_freeness.algorithms.batch import BatchOutcomes, Floats, Ints
from api.kinds.envy_freeness.algorithms.paper_batch import PrintedFleet
from api.kinds.envy_freeness.algorithms.reference import OnePerson
from bench.envy import oracle
from platform_sim.exploration.bandits import PROBLEMS, equal_arms

LAWS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "coins": lambda means, chance: (chance < means).astype(float),
    "narrow": lambda means, chance: means + 0.2 * np.minimum(means, 1 - means) * (chance - 0.5),
    "constant": lambda means, chance: means + 0 * chance,
}


class Tape:
    """Draws and rewards fixed beforehand: that of the n-th pull of each arm of each target."""

    def __init__(
        self, means: Floats, targets: int, steps: int, seed: int, law: str = "coins"
    ) -> None:
        rng = np.random.default_rng(seed)
        self.draws = rng.random((targets, steps))
        chance = rng.random((targets, len(means), steps))
        self.rewards = LAWS[law](means[:, None], chance)
        self.drawn = np.zeros(self.rewards.shape[:2], np.int64)

    def ahead(self, people: Ints, arms: Ints) -> Floats:
        """The next rewards of each pair, which come in lots."""
        found = np.empty(len(people))
        for person, arm in {*zip(people.tolist(), arms.tolist(), strict=True)}:
            places = np.flatnonzero((people == person) & (arms == arm))
            tape, first = self.rewards[person, arm], self.drawn[person, arm]
            # What is beyond the tape's end is drawn, but never used.
            found[places] = np.resize(tape[first:], len(places)) if first < len(tape) else 0.0
            self.drawn[person, arm] += len(places)
        return found


class Drawn(np.random.Generator):
    """A generator that reads its draws from a tape."""

    def __init__(self, draws: Floats) -> None:
        super().__init__(np.random.PCG64(0))
        self._draws, self._next = draws, iter(draws.flat)

    def random(self, size: Any = None, *_: object, **__: object) -> Any:
        return float(next(self._next)) if size is None else self._draws[:, : size[1]]


def play(terms: Terms, tape: Tape) -> BatchOutcomes:
    """Step by step."""
    targets, arms, _ = tape.rewards.shape
    fleet = PrintedFleet(terms, arms - 1, targets)
    while len(fleet.people):
        arm = fleet.ask(tape.draws[fleet.people, fleet.step])
        done = fleet.rows.pulls[np.arange(len(arm)), arm]
        fleet.tell(tape.rewards[fleet.people, arm, done])
    return fleet.outcomes


def leap(terms: Terms, tape: Tape) -> BatchOutcomes:
    """With rewards drawn ahead."""
    targets, arms, _ = tape.rewards.shape
    fleet = PrintedFleet(terms, arms - 1, targets)
    while len(fleet.people):
        fleet.leap(tape.ahead, Drawn(tape.draws[fleet.people, fleet.step :]))
    return fleet.outcomes


def alone(terms: Terms, tape: Tape, target: int) -> tuple[str, list[int]]:
    arms, rng = tape.rewards.shape[1] - 1, Drawn(tape.draws[target])
    person, verdict = OnePerson(terms, arms), "running"

    def reward(arm: int, _: np.random.Generator) -> float:
        return float(tape.rewards[target, arm, person.pulls[arm]])

    while verdict == "running" and person.steps != terms.ceiling:
        verdict = person.step(reward, rng)
    return "undecided" if verdict == "running" else verdict, person.pulls


def by_the_oracle(terms: Terms, tape: Tape, target: int) -> tuple[str, list[int]]:
    arms = tape.rewards.shape[1] - 1
    pulls, draws = [0] * (arms + 1), iter(tape.draws[target])

    def reward(arm: int) -> float:
        pulls[arm] += 1
        return float(tape.rewards[target, arm, pulls[arm] - 1])

    return oracle(terms, arms, reward, lambda: float(next(draws)))


@pytest.fixture(params=[play, leap])
def advance(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Terms, Tape], BatchOutcomes]:
    # Stretches and lots so short that both end in the middle of a run.
    monkeypatch.setattr(paper_batch, "_DRAWS", 300)
    monkeypatch.setattr(paper_batch, "_MOST", 37)
    found: Callable[[Terms, Tape], BatchOutcomes] = request.param
    return found


@pytest.mark.parametrize(("problem", "alpha"), [(3, 0.4), (2, 0.1)])
def test_the_fleet_decides_like_one_person(
    problem: int, alpha: float, advance: Callable[[Terms, Tape], BatchOutcomes]
) -> None:
    terms = Terms(0.05, 0.3, alpha, ceiling=2500)
    tape = Tape(PROBLEMS[problem], 2, 2500, seed=problem)
    outcomes = advance(terms, tape)
    for target in range(2):
        found = outcomes.verdicts[target], list(outcomes.pulls[target])
        assert found == alone(terms, tape, target)


ORACLE_CASES = [
    (Terms(0.2, 1.0, 0.3, ceiling=900), (0.6, 0.1, 0.9), "coins"),
    (Terms(0.4, 1.0, 1.0, ceiling=500), (0.9, 0.1, 0.1, 0.0), "coins"),
    (Terms(0.4, 0.9, 0.5, omega=0.1, ceiling=500), (0.9, 0.05), "narrow"),
    (Terms(0.4, 1.0, 0.8, ceiling=500), (0.0, 1.0, 0.5), "constant"),
    (Terms(0.4, 0.5, 0.2, ceiling=300), (0.5, 0.5, 0.5), "coins"),
    (Terms(0.4, 1.0, 0.6, omega=0.01, sigma=0.6, ceiling=500), (0.2, 0.9, 0.3), "narrow"),
]


@pytest.mark.parametrize(("terms", "means", "law"), ORACLE_CASES)
def test_the_fleet_decides_like_the_oracle(
    terms: Terms,
    means: tuple[float, ...],
    law: str,
    advance: Callable[[Terms, Tape], BatchOutcomes],
) -> None:
    tape = Tape(np.array(means), 2, terms.ceiling or 0, seed=1, law=law)
    outcomes = advance(terms, tape)
    for target in range(2):
        found = outcomes.verdicts[target], list(outcomes.pulls[target])
        assert found == by_the_oracle(terms, tape, target)


def test_the_cases_of_the_oracle_end_in_every_way() -> None:
    ends = {
        verdict
        for terms, means, law in ORACLE_CASES
        for verdict in play(terms, Tape(np.array(means), 2, terms.ceiling or 0, 1, law)).verdicts
    }
    assert ends == {"envy", "no-envy", "undecided"}


def test_rewards_drawn_ahead_change_nothing_in_the_long_run() -> None:
    terms, means = Terms(0.05, 0.3, 0.4), np.array([0.7, 0.3, 0.4])
    one, other = (
        run(PrintedFleet(terms, 2, 200), equal_arms(means, rng), rng, ahead=ahead)
        for ahead, rng in ((True, np.random.default_rng(1)), (False, np.random.default_rng(2)))
    )
    error = np.hypot(one.steps.std(), other.steps.std()) / 200**0.5
    # More than five standard errors apart with probability below 1e-6.
    assert abs(one.steps.mean() - other.steps.mean()) < 5 * error


def test_rewards_drawn_ahead_must_be_fit() -> None:
    fleet = PrintedFleet(Terms(0.05, 0.3, 0.4), 2, 3)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        fleet.leap(lambda people, _: np.full(len(people), 2.0), np.random.default_rng(0))


def test_nothing_is_explored_before_the_baseline_has_earned_it() -> None:
    fleet = PrintedFleet(Terms(0.05, 0.05, 0.1), 3, 2)
    for step in range(1, 11):
        arm = fleet.ask(np.array([0.1, 0.9]))
        assert (arm > 0).all() == (step == 10)
        fleet.tell(np.ones(2))
