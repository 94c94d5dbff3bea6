"""OCEF for one target: would somebody else's recommendations suit this person better?

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Algorithm 1.
"""

from dataclasses import dataclass

import numpy as np

from api.kinds.envy_freeness.algorithms.audit_all import make_fleet
from api.kinds.envy_freeness.algorithms.batch import Ints, run
from api.kinds.envy_freeness.algorithms.minimum_steps import require_enough_steps
from api.kinds.envy_freeness.algorithms.reference import OnePerson, Reward
from api.kinds.envy_freeness.algorithms.terms import Bounds, Terms, Verdict, require_arms


@dataclass(frozen=True)
class Outcome:
    """Verdict on one target, with its steps and its cost.

    `cost` is the estimated reward lost by exploring (negative if it was a gain); with known means
    it is `steps * means[0] - pulls @ means`.
    """

    verdict: Verdict
    steps: int
    cost: float
    pulls: Ints


def ocef(
    reward: Reward,
    *,
    arms: int,
    delta: float,
    epsilon: float,
    alpha: float,
    omega: float = 0.99,
    sigma: float = 0.5,
    bounds: Bounds = "printed",
    ceiling: int | None = None,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Audit one target; `reward(arm, rng)` shows an arm and returns its reward in [0, 1].

    Arm 0 is the baseline, the target's own recommendations; `arms` counts the others, 1 to `arms`.
    """
    terms = Terms(delta, epsilon, alpha, omega, sigma, bounds, ceiling)
    require_arms(arms)
    require_enough_steps(terms, arms)
    chance = np.random.default_rng() if rng is None else rng
    audit = _tight if bounds == "tight" else _printed
    return audit(terms, arms, reward, chance)


def _printed(terms: Terms, arms: int, reward: Reward, rng: np.random.Generator) -> Outcome:
    person = OnePerson(terms, arms)
    verdict: Verdict = "running"
    while verdict == "running" and person.steps != terms.ceiling:
        verdict = person.step(reward, rng)
    explored, pulls = person.explored, np.array(person.pulls)
    cost = explored * person.sums[0] / max(person.pulls[0], 1) - person.gained
    return Outcome("undecided" if verdict == "running" else verdict, person.steps, cost, pulls)


def _tight(terms: Terms, arms: int, reward: Reward, rng: np.random.Generator) -> Outcome:
    def rewards(_: Ints, asked: Ints) -> list[float]:
        return [reward(int(arm), rng) for arm in asked]

    ended = run(make_fleet(terms, arms, 1), rewards, rng)
    return Outcome(ended.verdicts[0], int(ended.steps[0]), float(ended.cost[0]), ended.pulls[0])
