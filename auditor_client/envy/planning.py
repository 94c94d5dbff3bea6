"""What an audit of envy will take: people, steps, and the reward that people may lose.

Targets and arms are what the rule needs with its noise (proved, docs/envy.md); steps and the loss
to expect are forecasts for means that the auditor guesses.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auditor_client.envy.course import Bounds, Terms
from auditor_client.envy.forecasts import forecast
from auditor_client.envy.rules import EverybodyRule, Rule, SampleRule
from auditor_client.envy.sizes import everybody_rule, sample_needed
from auditor_client.envy_asking import EnvyOptions
from auditor_client.errors import InputError
from auditor_client.laws import AnyNoise

# A ceiling of so many times the steps to expect leaves hardly anybody undecided.
ROOM = 2.0


@dataclass(frozen=True)
class Plan:
    """Whom an audit needs, for how long, at which loss; what it is likely to say.

    `steps` and `cost` are to be expected of each target, `ceiling` is the most steps to allow.
    `without_noise` is how many targets would do if counts were exact; `means` are those that the
    forecast is for, one's own first.
    """

    rule: Rule
    terms: Terms
    without_noise: int
    steps: float
    cost: float
    ceiling: int
    chance: float
    means: tuple[float, ...]

    @property
    def targets(self) -> int:
        return self.rule.targets

    @property
    def arms(self) -> int:
        return self.rule.arms

    @property
    def people(self) -> int:
        """The fewest people that can serve as targets and arms."""
        return max(self.targets, self.arms + 1)

    @property
    def loss(self) -> float:
        """The most that all targets together may lose: what the mandate is charged."""
        return self.terms.alpha * self.ceiling * self.targets

    def asks(self) -> EnvyOptions:
        """What `audits.run_envy` is to be told, beside its audience and epsilon."""
        rule, terms = self.rule, self.terms
        options = EnvyOptions(
            steps=self.ceiling,
            tolerance=terms.tolerance,
            alpha=terms.alpha,
            delta=rule.delta,
            bounds=terms.bounds,
        )
        if isinstance(rule, SampleRule):
            sample = EnvyOptions(
                gamma=rule.gamma, lam=rule.lam, targets=rule.targets, arms=rule.arms
            )
            return {**options, **sample}
        return {**options, "criterion": "exact"}

    def explain(self) -> str:
        """The plan in words."""
        more = self.targets - self.without_noise
        noise = f", {more} more than without noise" if more else ""
        gain = "gain" if self.cost < 0 else "lose"
        return (
            f"{self.targets} people{noise}, each shown up to {self.arms} others' recommendations"
            f" for about {self.steps:,.0f} steps (allow {self.ceiling:,}); each would {gain} about"
            f" {abs(self.cost):,.0f} in reward, and all together at most {self.loss:,.0f}. An"
            f" envy-free platform gets its certificate with probability {self.chance:.0%}."
        )


def envy_plan(
    *,
    tolerance: float = 0.05,
    alpha: float = 0.2,
    delta: float = 0.05,
    gamma: float = 0.1,
    lam: float = 0.1,
    noise: AnyNoise = math.inf,
    power: float = 0.9,
    uncertified: float = 0.0,
    bounds: Bounds = "tight",
    own: float = 0.5,
    others: float | Sequence[float] | None = None,
    everybody: int | None = None,
) -> Plan:
    """Plan the certificate of (tolerance, gamma, lam), or, of so many people, of `everybody`.

    `noise` is a law, or the rate of the counts' noise: their epsilon. `own` is the mean reward that
    people have from their own recommendations, `others` what they would have from somebody else's,
    one number or a few to stand for all arms: as much as from their own unless told, the longest
    case without envy.
    """
    rule: SampleRule | EverybodyRule
    if everybody is None:
        asked = {"delta": delta, "gamma": gamma, "lam": lam, "power": power}
        rule = sample_needed(**asked, noise=noise, uncertified=uncertified)
        without = sample_needed(**asked, uncertified=uncertified).targets
    else:
        if everybody < 2:
            raise InputError("Envy needs at least two people.")
        rule = everybody_rule(everybody, delta=delta, noise=noise)
        without = everybody
    terms = Terms(rule.level, tolerance, alpha, bounds)
    means = (own, *_spread(own if others is None else others, rule.arms))
    found = forecast(means, terms)
    steps = float(found.steps[0])
    return Plan(
        rule=rule,
        terms=terms,
        without_noise=without,
        steps=steps,
        cost=float(found.costs[0]),
        ceiling=_rounded(ROOM * steps),
        chance=rule.chance(uncertified),
        means=means,
    )


def _spread(others: float | Sequence[float], arms: int) -> list[float]:
    """As many means as there are arms, in the proportions of those given."""
    few = np.atleast_1d(np.asarray(others, np.float64))
    if not len(few):
        raise InputError("Give at least one mean of the others.")
    return [float(few[place * len(few) // arms]) for place in range(arms)]


def _rounded(steps: float) -> int:
    """Up to two digits: a ceiling is a round number."""
    size = int(10 ** max(math.floor(math.log10(steps)) - 1, 0))
    return math.ceil(steps / size) * size
