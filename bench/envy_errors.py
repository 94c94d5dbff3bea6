"""`python -m bench.envy_errors [trials]`: how often a certificate is wrong, or (3) is broken.

The cases are the hardest: arms exactly as good as the baseline, so that `envy` is wrong; one arm a
hair more than epsilon better, so that `no-envy` is wrong; arms worth nothing beside a baseline that
is good; rewards that vary little. delta = .1 for all of it together, and every target stops at a
ceiling. The last line is the worst of all.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Theorem 1.
"""

import sys
from dataclasses import dataclass

import numpy as np
from scipy import stats

from api.audits.envy import Terms, fleet_of
from api.audits.envy.fleet import Floats
from api.audits.envy.terms import Bounds

TRIALS, STEPS, DELTA, EPSILON = 4000, 2000, 0.1, 0.1
# Rewards are 0 or 1, or within so much of their mean.
WIDE, NARROW = 1.0, 0.1


@dataclass(frozen=True)
class Case:
    """Means by arm, the baseline first, and how far rewards stray from them."""

    name: str
    means: tuple[float, ...]
    alpha: float
    width: float = WIDE


CASES = (
    Case("all alike", (0.5,) * 4, 0.5),
    Case("all alike and rare", (0.05,) * 10, 0.3),
    Case("all alike, narrow", (0.5,) * 4, 0.5, NARROW),
    Case("one just too good", (0.4, 0.5 + 1e-9), 0.5),
    Case("one just too good among bad ones", (0.6, 0.7 + 1e-9, 0.1, 0.1), 0.3),
    Case("one just too good, narrow", (0.4, 0.5 + 1e-9), 0.5, NARROW),
    Case("worthless arms", (0.8, 0.0, 0.0), 0.1),
    Case("worthless arms, rare rewards", (0.1, 0.0, 0.0, 0.0), 0.3),
)


def draw(case: Case, arms: np.ndarray, rng: np.random.Generator) -> Floats:
    means = np.array(case.means)[arms]
    return np.asarray(means + case.width * ((rng.random(len(arms)) < means) - means))


def shares(case: Case, bounds: Bounds, trials: int, seed: int) -> tuple[float, float]:
    """Of all trials: a wrong verdict; constraint (3) broken at any step."""
    rng, means = np.random.default_rng(seed), np.array(case.means)
    terms = Terms(DELTA, EPSILON, case.alpha, bounds=bounds, ceiling=STEPS)
    fleet = fleet_of(terms, len(means) - 1, trials)
    kept, broken = np.zeros(trials), np.zeros(trials, bool)
    while len(fleet.people):
        people, arms = fleet.people, fleet.ask(rng.random(len(fleet.people)))
        fleet.tell(draw(case, np.repeat(arms, fleet.block), rng))
        kept[people] += fleet.block * means[arms]
        # Within a block the means are equal, so (3) is worst at one of its ends.
        least = (1 - case.alpha) * fleet.step * means[0]
        broken[people] |= kept[people] < least - 1e-9
    wrong = fleet.outcomes.are("envy") & (means[1:].max() <= means[0])
    wrong |= fleet.outcomes.are("no-envy") & (means[1:].max() > means[0] + EPSILON)
    return float(wrong.mean()), float(broken.mean())


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    print(f"{'case':>34}  bounds   wrong  (3) broken   of {trials}, delta = {DELTA}")
    worst = 0.0
    for number, case in enumerate(CASES):
        for bounds in ("tight", "printed"):
            wrong, broken = shares(case, bounds, trials, number)
            worst = max(worst, wrong + broken)
            print(f"{case.name:>34} {bounds:>7} {wrong:>7.4f} {broken:>11.4f}", flush=True)
    chance = stats.binom.ppf(1 - 1e-3, trials, DELTA) / trials
    print(f"at delta itself, more than {chance:.3f} happens once in a thousand")
    print(f"worst: {worst:.4f}")


if __name__ == "__main__":
    main()
