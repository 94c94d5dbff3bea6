"""Plans of audits of envy: people, noise, steps, and the reward that people may lose.

The rule determines targets, arms and noise (proved in docs/explanation/envy.md). Steps and the
expected loss are forecasts for means that the auditor guesses.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auditor_client.envy.decision_rule import SampleRule
from auditor_client.envy.designs import CertificateGoal, EnvyDesign, design
from auditor_client.envy.forecast_path import Bounds, EnvyTerms
from auditor_client.envy.forecasts import forecast
from auditor_client.envy.lots import noise_rate
from auditor_client.envy.options import EnvyOptions
from auditor_client.envy.sample_size import sample_needed
from auditor_client.errors import InputError

# Ceiling as a multiple of the expected steps, which leaves hardly anybody undecided.
ROOM = 2.0


@dataclass(frozen=True)
class EnvyPlan:
    """People, steps, loss and noise of an audit, and its likely result.

    `steps` and `cost` are the expected ones of each target; `ceiling` is the largest number of
    steps to allow. `without_noise` is the number of targets that exact counts would need. `means`
    are the mean rewards of the forecast, one's own first.
    """

    design: EnvyDesign
    wanted: CertificateGoal
    terms: EnvyTerms
    without_noise: int
    steps: float
    cost: float
    ceiling: int
    means: tuple[float, ...]

    @property
    def rule(self) -> SampleRule:
        return self.design.rule

    @property
    def targets(self) -> int:
        return self.rule.targets

    @property
    def arms(self) -> int:
        return self.rule.arms

    @property
    def arms_per_person(self) -> int:
        """Largest number of targets' audits in which one person takes part."""
        return self.design.arms_per_person

    @property
    def people(self) -> int:
        """Number of people who take part, after matching and consent: as given, or as needed."""
        return self.design.people

    @property
    def noise_scale(self) -> float:
        """The scale of the Laplace noise on each of the two numbers of targets."""
        wanted = self.wanted
        return 1 / noise_rate(wanted.epsilon, self.arms_per_person, sampled=wanted.sampled)

    @property
    def chance(self) -> float:
        """The probability of the certificate where no target envies (the power)."""
        return self.design.chance

    @property
    def loss(self) -> float:
        """Largest loss of all targets together, which is debited from the mandate."""
        return self.terms.alpha * self.ceiling * self.targets

    def asks(self) -> EnvyOptions:
        """Return the options of `audits.envy_freeness`, except the audience."""
        rule, terms = self.rule, self.terms
        return EnvyOptions(
            steps=self.ceiling,
            tolerance=terms.tolerance,
            alpha=terms.alpha,
            delta=rule.delta,
            bounds=terms.bounds,
            gamma=rule.gamma,
            lam=rule.lam,
            targets=rule.targets,
            arms=rule.arms,
            arms_per_person=self.arms_per_person,
            epsilon=self.wanted.epsilon,
        )

    def explain(self) -> str:
        """Return the plan in words."""
        more = self.targets - self.without_noise
        noise = f", {more} more than without noise" if more else ""
        times = "once" if self.arms_per_person == 1 else f"up to {self.arms_per_person} times"
        gain = "gain" if self.cost < 0 else "lose"
        return (
            f"{self.people:,} people, each of whom takes part {times}. {self.targets} of "
            f"them are targets{noise}, each shown {self.arms} others' recommendations for "
            f"about {self.steps:,.0f} steps (allow {self.ceiling:,}). Each target would "
            f"{gain} about {abs(self.cost):,.0f} in reward, and all targets together at "
            f"most {self.loss:,.0f}. Noise of scale {self.noise_scale:g} on both counts "
            "covers everybody. An envy-free platform gets its certificate with "
            f"probability {self.chance:.0%}."
        )


def envy_plan(
    *,
    tolerance: float = 0.05,
    alpha: float = 0.2,
    delta: float = 0.05,
    gamma: float = 0.1,
    lam: float = 0.1,
    epsilon: float = 1.0,
    people: int | None = None,
    sampled: bool = False,
    arms_per_person: int | None = None,
    power: float = 0.9,
    uncertified: float = 0.0,
    bounds: Bounds = "tight",
    own: float = 0.5,
    others: float | Sequence[float] | None = None,
) -> EnvyPlan:
    """Plan the certificate of (tolerance, gamma, lam)-envy-freeness.

    `epsilon` is that of the counts. `people` is the number of people who take part (default: the
    number that the `power` needs); if it is given, the plan states the power that it allows.
    `sampled`: the platform draws the audience, which doubles the noise. `arms_per_person` is chosen
    by default. `own` is the mean reward from people's own recommendations. `others` is the mean
    reward from other people's: one number, or a few that represent all arms (default: equal to
    `own`, the longest case without envy).
    """
    wanted = CertificateGoal(epsilon, sampled, delta, gamma, lam, power, uncertified)
    chosen = design(wanted, people=people, arms_per_person=arms_per_person)
    without = sample_needed(delta=delta, gamma=gamma, lam=lam, power=power, uncertified=uncertified)
    terms = EnvyTerms(chosen.rule.level, tolerance, alpha, bounds)
    means = (own, *_spread(own if others is None else others, chosen.rule.arms))
    found = forecast(means, terms)
    steps = float(found.steps[0])
    return EnvyPlan(
        design=chosen,
        wanted=wanted,
        terms=terms,
        without_noise=without.targets,
        steps=steps,
        cost=float(found.costs[0]),
        ceiling=_rounded(ROOM * steps),
        means=means,
    )


def _spread(others: float | Sequence[float], arms: int) -> list[float]:
    """Return a mean for each arm, in the proportions of those given."""
    few = np.atleast_1d(np.asarray(others, np.float64))
    if not len(few):
        raise InputError("Give at least one mean in others=.", case="no-means")
    return [float(few[arm * len(few) // arms]) for arm in range(arms)]


def _rounded(steps: float) -> int:
    """Round up to two digits."""
    size = int(10 ** max(math.floor(math.log10(steps)) - 1, 0))
    return math.ceil(steps / size) * size
