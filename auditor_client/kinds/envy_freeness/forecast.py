"""Forecast of an envy-freeness audit: the probability of a deserved certificate."""

from typing import Any

from auditor_client.envy.designs import CertificateGoal, EnvyDesign, design
from auditor_client.errors import InputError
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.reporting.rounding import percent

# Share of an audience that is expected to match, to consent and to be within the cap.
EXPECTED_SHARE = 0.9
# Below this power, the audit would hardly certify anything.
LEAST_POWER = 0.5


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return the power of the certificate with the people who are expected to take part."""
    people = int(EXPECTED_SHARE * sum(audience.people.values()))
    goal = CertificateGoal(
        epsilon=float(request.epsilon),
        sampled=audience.source == "sample",
        delta=float(request.delta),
        gamma=float(request.gamma or 0),
        lam=float(request.lam or 0),
    )
    each = request.arms_per_person or 1
    chance = EnvyDesign(goal.rule(request.targets, each), each, people).chance
    loss = float(request.alpha) * request.steps * request.targets
    said = (
        f"With about {people:,} people who take part, {request.targets:,} of them as "
        f"targets, an envy-free platform is certified with probability {percent(chance)}. "
        f"The loss of all people together is limited to {loss:,.0f} in reward."
    )
    if chance >= LEAST_POWER:
        return Forecast(said, answers=True)
    return Forecast(said, answers=False, enough=_enough(goal))


def _enough(goal: CertificateGoal) -> str:
    try:
        needed = design(goal)
    except InputError:
        return "No number of people is enough. Allow a larger lam, or more epsilon."
    return (
        f"Enough for {percent(goal.power)} would be {needed.people:,} people who take part"
        f" ({needed.rule.targets:,} targets), or a larger lam, gamma or epsilon."
    )
