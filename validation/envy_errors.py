"""`python -m validation.envy_errors [trials]`: rates of wrong certificates, and of violations of
(3).

The cases are the hardest: arms exactly as good as the baseline, so that `envy` is wrong; one arm
better by slightly more than epsilon, so that `no-envy` is wrong; worthless arms with a good
baseline. Rewards are coins, or vary little, or not at all. Or they come in an order: given the
past, their mean is always the same, but the first vary much, or the last, or every other. delta =
.1 for everything together, and every target stops at a ceiling. `worst` is the worst of all these;
the cases after it are beyond the guarantee: utilities that change.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Theorem 1.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from scipy import stats

from api.kinds.envy_freeness.algorithms import Terms, make_fleet
from api.kinds.envy_freeness.algorithms.batch import Floats, Ints
from api.kinds.envy_freeness.algorithms.terms import Bounds

TRIALS, STEPS, DELTA, EPSILON = 4000, 2000, 0.1, 0.1
# Step at which calm begins or ends; length of a tide.
CALM, TIDE = 200, 400


def coins(means: Floats, _: Ints, rng: np.random.Generator) -> Floats:
    return np.asarray(rng.random(means.shape) < means, np.float64)


def narrow(means: Floats, steps: Ints, rng: np.random.Generator) -> Floats:
    return np.asarray(means + 0.1 * (coins(means, steps, rng) - means))


def constant(means: Floats, *_: object) -> Floats:
    return means


def calming(means: Floats, steps: Ints, rng: np.random.Generator) -> Floats:
    """Return rewards that are coins at first, and then hardly vary."""
    return np.where(steps < CALM, coins(means, steps, rng), narrow(means, steps, rng))


def waking(means: Floats, steps: Ints, rng: np.random.Generator) -> Floats:
    return np.where(steps < CALM, narrow(means, steps, rng), coins(means, steps, rng))


def in_turns(means: Floats, steps: Ints, rng: np.random.Generator) -> Floats:
    return np.where(steps % 2, means, coins(means, steps, rng))


def tidal(means: Floats, steps: Ints, rng: np.random.Generator) -> Floats:
    """Return rewards whose means rise and fall together: utilities are not stationary, so nothing
    is guaranteed.
    """
    return coins(means * (1 + 0.5 * np.sin(steps * 2 * np.pi / TIDE)), steps, rng)


Law = Callable[[Floats, Ints, np.random.Generator], Floats]
IN_ORDER: tuple[Law, ...] = (constant, narrow, calming, waking, in_turns)


@dataclass(frozen=True)
class Case:
    """Means by arm, the baseline first, and the deviations of rewards from them."""

    name: str
    means: tuple[float, ...]
    alpha: float
    law: Law = coins


CASES = (
    Case("all alike", (0.5,) * 4, 0.5),
    Case("all alike and rare", (0.05,) * 10, 0.3),
    *(Case("all alike", (0.5,) * 4, 0.5, law) for law in IN_ORDER),
    Case("one just too good", (0.4, 0.5 + 1e-9), 0.5),
    Case("one just too good among bad ones", (0.6, 0.7 + 1e-9, 0.1, 0.1), 0.3),
    *(Case("one just too good", (0.4, 0.5 + 1e-9), 0.5, law) for law in IN_ORDER),
    Case("worthless arms", (0.8, 0.0, 0.0), 0.1),
    Case("worthless arms, rare rewards", (0.1, 0.0, 0.0, 0.0), 0.3),
    *(Case("worthless arms", (0.8, 0.0, 0.0), 0.1, law) for law in (calming, in_turns)),
    Case("half as good", (0.6, 0.3, 0.3), 0.2),
    Case("rare rewards, less than half as good", (0.05, 0.02, 0.0), 0.2),
    Case("falling, and little to lose", (0.7, 0.5, 0.2, 0.0), 0.05),
)
BEYOND = (
    Case("all alike", (0.5,) * 4, 0.5, tidal),
    Case("one just too good", (0.4, 0.5 + 1e-9), 0.5, tidal),
)


def shares(case: Case, bounds: Bounds, trials: int, seed: int) -> tuple[float, float]:
    """Return the shares of trials with a wrong verdict, and with constraint (3) violated at any
    step.
    """
    rng, means = np.random.default_rng(seed), np.array(case.means)
    terms = Terms(DELTA, EPSILON, case.alpha, bounds=bounds, ceiling=STEPS)
    fleet = make_fleet(terms, len(means) - 1, trials)
    kept, broken = np.zeros(trials), np.zeros(trials, bool)
    while len(fleet.people):
        people, arms = fleet.people, fleet.ask(rng.random(len(fleet.people)))
        steps = fleet.step + np.arange(fleet.block)
        fleet.tell(case.law(np.tile(means[arms, None], fleet.block), steps, rng))
        kept[people] += fleet.block * means[arms]
        # Within a block the means are equal, so (3) is worst at one of its ends.
        least = (1 - case.alpha) * fleet.step * means[0]
        broken[people] |= kept[people] < least - 1e-9
    wrong = fleet.outcomes.are("envy") & (means[1:].max() <= means[0])
    wrong |= fleet.outcomes.are("no-envy") & (means[1:].max() > means[0] + EPSILON)
    return float(wrong.mean()), float(broken.mean())


def table(cases: Sequence[Case], trials: int) -> float:
    """Print the cases and return the worst of them."""
    worst = 0.0
    for number, case in enumerate(cases):
        for bounds in get_args(Bounds):
            wrong, broken = shares(case, bounds, trials, number)
            worst = max(worst, wrong + broken)
            name = f"{case.name}, {case.law.__name__}"
            print(f"{name:>40} {bounds:>7} {wrong:>7.4f} {broken:>11.4f}", flush=True)
    return worst


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    print(f"{'case':>40}  bounds   wrong  (3) broken   of {trials}, delta = {DELTA}")
    worst = table(CASES, trials)
    chance = stats.binom.ppf(1 - 1e-3, trials, DELTA) / trials
    print(f"at delta itself, more than {chance:.3f} happens once in a thousand")
    print(f"worst: {worst:.4f}\nbeyond the promise:")
    table(BEYOND, trials)


if __name__ == "__main__":
    main()
