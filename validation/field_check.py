"""`python -m validation.field_check [runs]`: how often canaries accuse honest and lying platforms.

Each check has the people, canaries and edges that `canary_plan` proposes for a delivery rate.
Honest platforms deliver by the score alone, and never less for a higher score. They may not be
accused more often than the level of .01 allows, up to chance. The plan promises power .8 for
`never shown`, a group that gets nothing. The other lies were not used for planning:

    half withheld    every second delivery to the group
    lower scores     the group's scores are lowered where people are served, not in the audit
    low scores only  deliveries to the group go to its lowest scores, at the same rate
"""

import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from auditor_client.consistency.canary import check_counts
from auditor_client.consistency.canary_plan import CanaryPlan, canary_plan
from auditor_client.consistency.delivery_rules import GroupScores
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import Laplace

RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
LEVEL, EPSILON = 0.01, 1.0
RUNS = 100

Scores = NDArray[np.float64]
# Delivered people of the served group and of the other, from their scores.
Rule = Callable[[Scores, Scores, float, np.random.Generator], tuple[int, int]]


def by_threshold(a: Scores, b: Scores, cut: float, _: np.random.Generator) -> tuple[int, int]:
    """Deliver to everybody above a threshold."""
    return int((a > cut).sum()), int((b > cut).sum())


def by_growing_chance(
    a: Scores, b: Scores, cut: float, generator: np.random.Generator
) -> tuple[int, int]:
    """Deliver with a chance that grows with the score, a quarter of it at the threshold."""

    def shown(scores: Scores) -> int:
        chance = np.clip((scores / cut) ** 8 / 4, 0, 1)
        return int((generator.random(len(scores)) < chance).sum())

    return shown(a), shown(b)


def never_shown(a: Scores, _b: Scores, cut: float, _: np.random.Generator) -> tuple[int, int]:
    return int((a > cut).sum()), 0


def half_withheld(
    a: Scores, b: Scores, cut: float, generator: np.random.Generator
) -> tuple[int, int]:
    return int((a > cut).sum()), int(generator.binomial((b > cut).sum(), 0.5))


def lower_scores(a: Scores, b: Scores, cut: float, _: np.random.Generator) -> tuple[int, int]:
    return int((a > cut).sum()), int((b - 0.15 > cut).sum())


def low_scores_only(a: Scores, b: Scores, cut: float, _: np.random.Generator) -> tuple[int, int]:
    count = int((b > cut).sum())
    return int((a > cut).sum()), count


HONEST: dict[str, Rule] = {"threshold": by_threshold, "growing chance": by_growing_chance}
LIES: dict[str, Rule] = {
    "never shown": never_shown,
    "half withheld": half_withheld,
    "lower scores": lower_scores,
    "low scores only": low_scores_only,
}
# Scores of the served and of the other group: alike, and with ordinary differences.
WORLDS = {"same scores": ((2, 3), (2, 3)), "different scores": ((2.5, 3), (2, 3))}


def share_of_alarms(
    plan: CanaryPlan, shapes: tuple[tuple[float, float], ...], rule: Rule, runs: int, seed: int
) -> float:
    """Return the share of checks that call the deliveries irreconcilable with the scores."""
    laws = [stats.beta(*shape) for shape in shapes]
    pooled = np.sort(
        np.concatenate([law.ppf(np.linspace(1e-6, 1 - 1e-6, 200_001)) for law in laws])
    )
    edges = np.quantile(pooled, [1 - tail for tail in sorted(plan.tails, reverse=True)])
    # The served group has the planned rate.
    cut = float(laws[0].ppf(1 - plan.rate))
    alarms = 0
    for run in range(runs):
        generator = np.random.default_rng((seed, run))
        groups = {}
        for name, law in zip("ab", laws, strict=True):
            scores = law.rvs(plan.people, random_state=generator)
            counts = np.histogram(scores, [0.0, *edges, 1.0])[0]
            table = np.append(counts, 0) + Laplace(EPSILON).simulated(generator, len(counts) + 1)
            size = GroupSizeEstimate(
                int(table.sum()), len(table), Laplace(EPSILON), known=plan.people
            )
            known = GroupCounts(tuple(int(c) for c in table), size, Laplace(EPSILON))
            groups[name] = GroupScores(name, known)
        a, b = (law.rvs(plan.canaries, random_state=generator) for law in laws)
        seen = rule(a, b, cut, generator)
        shown = {name: (n, plan.canaries) for name, n in zip("ab", seen, strict=True)}
        alarms += check_counts(groups, shown, LEVEL).verdict == "irreconcilable"
    return alarms / runs


def rows(runs: int) -> Iterator[tuple[str, CanaryPlan, float, bool]]:
    """Yield each case with its plan, the share of alarms, and whether the platform is honest."""
    for number, rate in enumerate(RATES):
        plan = canary_plan(rate, epsilon=EPSILON, false_alarm=LEVEL)
        for world, shapes in WORLDS.items():
            for rules, honest in ((HONEST, True), (LIES, False)):
                for name, rule in rules.items():
                    if not honest and world != "same scores":
                        continue
                    found = share_of_alarms(plan, shapes, rule, runs, number)
                    yield f"{name}, {world}", plan, found, honest


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(f"{'rate':>6} {'people':>7} {'canaries':>8} {'case':>34} accused")
    worst = 0.0
    for name, plan, found, honest in rows(runs):
        worst = max(worst, found) if honest else worst
        print(
            f"{plan.rate:>6.1%} {plan.people:>7} {plan.canaries:>8} {name:>34} {found:.2f}",
            flush=True,
        )
    chance = stats.binom.ppf(1 - 1e-3, runs, LEVEL) / runs
    print(f"{runs} runs: a level of {LEVEL} is above {chance:.3f} once in a thousand")
    print(f"worst share of honest platforms accused: {worst:.3f}")


if __name__ == "__main__":
    main()
