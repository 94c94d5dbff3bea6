"""Number of people that an outcome test needs, with noise, before any budget is spent.

The test's own code runs on the expected sums of one bin. It gives the width of the limits (w) and
the standard deviation of the estimate (σ), including noise and bounds. The power is about Φ((effect
- w)/σ), with w at delta divided by the number of tested bins and pairs. This is a forecast;
`simulated_power` checks it with complete tests on simulated rows.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy import special

from auditor_client.errors import InputError
from auditor_client.outcome.effects import Effect, EffectQuestion, bin_effects
from auditor_client.outcome.error_quantiles import two_sided_quantile
from auditor_client.outcome.log_reader import from_frame
from auditor_client.outcome.outcome_test import test
from auditor_client.outcome.sandwich_variance import Variance
from auditor_client.stats.noise import Epsilon, as_rate
from auditor_client.stats.noise_distributions import Laplace, Noise, NoNoise
from auditor_client.stats.outcome_moments import OutcomeMoments

# The fixed point of a release, and the total change that one row can cause in it
# (docs/explanation/outcome-test.md).
UNITS = (2**20, 2**20, 2**19, 2**18, 2**18, 2**18)
REACH = 3.25 * 2**20
_MOST_PEOPLE = 10**9
_VARIANCES: tuple[Variance, Variance] = ("guarded", "classical")


@dataclass(frozen=True)
class OutcomeTestPlan:
    """Planned outcome test: one effect, the same in every bin, of a binary outcome.

    With `threshold_only`, only the bin just above the threshold is tested. `epsilon` is that of the
    release (None: own rows). `base` is the reference group's average outcome. `slope` is the
    outcome at the upper end of a bin minus that at the lower end.
    """

    effect: float
    bins: int = 10
    groups: int = 2
    epsilon: float | None = 1.0
    rows_per_person: int = 1
    base: float = 0.5
    slope: float = 0.05
    delta: float = 0.05
    threshold_only: bool = False

    def __post_init__(self) -> None:
        if not 0 < abs(self.effect) < 1 or not 0 <= self.base + self.effect <= 1:
            raise InputError(
                "base plus effect must be an average outcome in [0, 1].",
                case="effect-out-of-range",
            )
        if not 0 < self.delta < 1 or self.bins < 1 or self.groups < 2 or self.rows_per_person < 1:
            raise InputError(
                "Plan for at least one bin, two groups and one row per person.",
                case="few-bins-groups-or-rows",
            )

    @property
    def distribution(self) -> Noise:
        """Return the distribution of the noise in every cell."""
        if self.epsilon is None:
            return NoNoise()
        return Laplace(as_rate(self.epsilon) / (REACH * self.rows_per_person))

    @property
    def family(self) -> int:
        """Return the number of effects that are tested at once."""
        pairs = self.groups * (self.groups - 1) // 2
        return pairs if self.threshold_only else pairs * self.bins


def sample_size(
    effect: float,
    *,
    power: float = 0.8,
    epsilon: Epsilon | None = 1.0,
    bins: int = 10,
    groups: int = 2,
    rows_per_person: int = 1,
    base: float = 0.5,
    delta: float = 0.05,
    threshold_only: bool = False,
) -> int:
    """Return the people per group, in all bins together, that find an effect in a bin with this
    power.
    """
    if not 0 < power < 1:
        raise InputError(f"power must lie between 0 and 1, not {power}.")
    known = None if epsilon is None else as_rate(epsilon)
    plan = OutcomeTestPlan(
        effect, bins, groups, known, rows_per_person, base,
        delta=delta, threshold_only=threshold_only,
    )  # fmt: skip
    low, high = 1, 2 * bins
    while power_of(plan, high) < power:
        low, high = high, 2 * high
        if high > _MOST_PEOPLE:
            raise InputError("No number of people up to 1,000,000,000 is enough.")
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(plan, middle) >= power else (middle, high)
    return high


def power_of(plan: OutcomeTestPlan, people: int) -> float:
    """Return the power to find the effect in one bin, given `people` per group in all bins."""
    rows = people * plan.rows_per_person / plan.bins
    guarded, plain = (_rehearsed(plan, rows, variance) for variance in _VARIANCES)
    if not guarded.defined or not plain.defined:
        return 0.0
    width = (
        two_sided_quantile(plan.delta / plan.family, guarded.freedom, guarded.kurtosis) * guarded.se
    )
    # In the worst case, all rows of a person are equal.
    varies = plain.se * plan.rows_per_person**0.5
    return float(special.ndtr((abs(plan.effect) - width) / varies))


def _rehearsed(plan: OutcomeTestPlan, rows: float, variance: Variance) -> Effect:
    """Return the effect in a bin from expected sums, with scores uniform in the bin."""
    means = (2 * plan.base - 1, 2 * (plan.base + plan.effect) - 1)
    # Mean positions of two groups differ by chance, by √(2/3n) for n people.
    positions = (0.0, np.sqrt(2 * plan.rows_per_person * rows / 3))
    sums = [
        [rows, mean * rows + plan.slope * u, u, rows / 3, mean * u + plan.slope * rows / 3, rows]
        for mean, u in zip(means, positions, strict=True)
    ]
    moments = OutcomeMoments(
        ("one", "other"),
        (0.0, 1.0),
        (0.0, 1.0),
        np.array(sums)[:, np.newaxis],
        plan.rows_per_person,
        plan.distribution,
        UNITS,
    )
    question = EffectQuestion("linear", variance, plan.delta, binary=True)
    return bin_effects(moments, 0, (0, 1), question)[0][0]


def simulated_power(plan: OutcomeTestPlan, people: int, *, runs: int = 200, seed: int = 0) -> float:
    """Return the share of simulated tests that find the effect in a bin, averaged over bins."""
    generator = np.random.default_rng(seed)
    found = [_finds(plan, people, generator) for _ in range(runs)]
    return float(np.mean(found))


def _finds(plan: OutcomeTestPlan, people: int, generator: np.random.Generator) -> float:
    count = people * plan.rows_per_person
    group = np.repeat(np.arange(plan.groups), count)
    score = generator.random(len(group))
    within = (score * plan.bins) % 1 - 0.5
    chance = plan.base + plan.effect * (group == 1) + plan.slope * within
    rows = pa.table(
        {
            "group": group,
            "score": score,
            "outcome": (generator.random(len(group)) < chance).astype(np.float64),
        }
    )
    edges = np.linspace(0, 1, plan.bins + 1).tolist()
    exact = from_frame(rows, score="score", outcome="outcome", group="group", bins=edges)
    drawn = plan.distribution.simulated(generator, exact.sums.size).reshape(exact.sums.shape)
    noisy = OutcomeMoments(
        exact.groups, exact.edges, (0.0, 1.0), exact.sums + drawn / np.array(UNITS),
        plan.rows_per_person, plan.distribution, UNITS,
    )  # fmt: skip
    tested = test(
        noisy, binary=True, delta=plan.delta, threshold=0.0 if plan.threshold_only else None
    )
    wanted = [each for each in tested.family() if {each.group, each.relative_to} == {"0", "1"}]
    return float(np.mean([each.defined and each.low_all * each.high_all > 0 for each in wanted]))
