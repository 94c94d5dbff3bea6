"""`python -m bench.envy`: our OCEF compared with a slow, obvious one, and audits at paper size.

`oracle` is Algorithm 1 in its most direct form: for one person, with everything computed again at
every step. On the same rewards, the batch makes the same decisions. Goals: a batch makes a hundred
times as many steps as the oracle, with rewards given step by step or drawn ahead; and the whole
audit of 41 targets with 75 arms takes seconds. Numba compiles before the measurement.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Algorithms 1 and 2.
"""

import math
import time
from collections.abc import Callable
from typing import get_args

import numpy as np

from api.kinds.envy_freeness.algorithms import (
    Certificate,
    Terms,
    audit,
    make_fleet,
    probabilistic,
    run,
)
from api.kinds.envy_freeness.algorithms.terms import Bounds
from bench.harness import Figure, compare
from platform_sim.exploration.bandits import PROBLEMS, arms_of_people, equal_arms
from platform_sim.exploration.policies import softmax, utilities
from platform_sim.exploration.preferences import learn, make_preferences

COMMAND = "python -m bench envy"
DELTA = EPSILON = 0.05
GAMMA = LAM = 0.1
# Steps until everything is compiled, and of the oracle at paper size.
COMPILED, FIRST = 2_000, 400


def oracle(
    terms: Terms, arms: int, reward: Callable[[int], float], draw: Callable[[], float]
) -> tuple[str, list[int]]:
    """Return the verdict, and the number of pulls of each arm."""
    rewards: list[list[float]] = [[] for _ in range(arms + 1)]
    explored: list[float] = []
    active = list(range(1, arms + 1))  # line 1
    t = 0
    while t != terms.ceiling:  # line 2
        t += 1
        low, high = zip(*(_interval(terms, arms, seen) for seen in rewards), strict=True)
        widths = [_beta(terms, arms, len(seen)) for seen in rewards]
        candidate = active[int(draw() * len(active))]  # line 3
        slack = sum(explored) - _deviation(terms, widths, rewards, len(explored)) + low[candidate]
        slack += (len(rewards[0]) - (1 - terms.alpha) * t) * high[0]  # equation 4
        stay = widths[0] > min(widths[k] for k in active) or slack < 0  # line 4
        arm = 0 if stay else candidate  # line 5
        rewards[arm].append(reward(arm))  # line 6
        if arm:
            explored.append(rewards[arm][-1])
        low, high = zip(*(_interval(terms, arms, seen) for seen in rewards), strict=True)
        active = [k for k in active if high[k] > low[0] + terms.epsilon]  # line 7
        if any(low[k] > high[0] for k in active):
            return "envy", [len(seen) for seen in rewards]  # line 8
        if not active:
            return "no-envy", [len(seen) for seen in rewards]  # line 9
    return "undecided", [len(seen) for seen in rewards]


def _interval(terms: Terms, arms: int, seen: list[float]) -> tuple[float, float]:
    if not seen:
        return 0.0, 1.0
    mean, width = sum(seen) / len(seen), _beta(terms, arms, len(seen))
    return mean - width, mean + width


def _beta(terms: Terms, arms: int, n: int) -> float:
    if n == 0:
        return math.inf
    omega = terms.omega
    theta = math.log(1 + omega) * (omega * terms.delta / (2 * (2 + omega))) ** (1 / (1 + omega))
    shape = 2 * terms.sigma**2 * (1 + math.sqrt(omega)) ** 2 * (1 + omega)
    return math.sqrt(shape / n * math.log(2 * (arms + 1) / theta * math.log((1 + omega) * n)))


def _deviation(terms: Terms, widths: list[float], rewards: list[list[float]], n: int) -> float:
    if n == 0:
        return 0.0
    times = math.log(6 * n**2 / terms.delta)
    whole = terms.sigma * math.sqrt(2 * n * times) + 2 / 3 * times
    pairs = list(zip(widths, rewards, strict=True))[1:]
    return min(sum(width * len(seen) for width, seen in pairs if seen), whole)


def simulated(inverse_temperature: float, people: int = 300, items: int = 400) -> np.ndarray:
    """Return people's rewards from each other's policies on a simulated platform."""
    preferences = make_preferences(1, people, items, 32)
    policies = softmax(learn(1, preferences, 48), inverse_temperature)
    return utilities(preferences, policies)


def paper_size(
    found: np.ndarray, bounds: Bounds, alpha: float, seed: int, ceiling: int | None = None
) -> Certificate:
    """Run AUDIT at the paper's parameters: 41 targets and 75 arms, every target to its own end."""
    size = probabilistic(len(found), DELTA, GAMMA, LAM)
    terms = Terms(size.level, EPSILON, alpha, bounds=bounds, ceiling=ceiling)
    rng = np.random.default_rng(seed)
    rewards = arms_of_people(found, rng)
    return audit(rewards, len(found), size, terms, rng, first_envy_ends=False, ahead=True)


def run_fleet(terms: Terms, targets: int) -> None:
    rng, means = np.random.default_rng(0), PROBLEMS[3]
    run(make_fleet(terms, len(means) - 1, targets), equal_arms(means, rng), rng)


def run_oracle(terms: Terms, targets: int, means: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    for _ in range(targets):
        oracle(terms, len(means) - 1, lambda arm: float(rng.random() < means[arm]), rng.random)


def whole_audit(bounds: Bounds, found: np.ndarray) -> Figure:
    """Time an audit at paper size, compared with the oracle's time for the same number of steps of
    one target.

    The oracle is timed in its first steps, which are its fastest, because it adds up all rewards at
    every step.
    """
    paper_size(found, bounds, 0.4, seed=0, ceiling=COMPILED)
    started = time.perf_counter()
    audited = paper_size(found, bounds, 0.4, seed=0)
    ours = time.perf_counter() - started
    started = time.perf_counter()
    run_oracle(Terms(DELTA, EPSILON, 0.4, ceiling=FIRST), 1, np.resize(PROBLEMS[3], 76))
    each = (time.perf_counter() - started) / FIRST
    slow = float(audited.outcomes.steps.sum()) * each
    name = (
        f"AUDIT, 41 targets of 75 arms, {bounds} bounds / as many steps of the oracle, scaled up "
        f"from its first {FIRST}"
    )
    return Figure(name, ours, slow, ours / slow, "ours < 10 s, ratio < 1/100", COMMAND)


def figures(rounds: int = 3) -> list[Figure]:
    long, short = (Terms(DELTA, EPSILON, 0.4, ceiling=steps) for steps in (1000, 500))
    run_fleet(short, 1)
    speed = compare(
        "OCEF: a million steps of a fleet / ten thousand of the oracle",
        lambda: run_fleet(long, 1000),
        lambda: run_oracle(short, 20, PROBLEMS[3]),
        goal="< 1",
        command=COMMAND,
        rounds=rounds,
    )
    found = simulated(5)
    return [speed, *(whole_audit(bounds, found) for bounds in get_args(Bounds))]


def main() -> None:
    for figure in figures():
        print(f"{figure.name}: {figure.ours:.2f} s / {figure.floor_or_peer:.2f} s")
        print(f"  ratio {figure.ratio:.3f}, goal {figure.goal}")


if __name__ == "__main__":
    main()
