"""Forecast of an outcome test: the smallest difference that it would find."""

import math
from typing import Any

from auditor_client.errors import InputError
from auditor_client.kinds.building_blocks.planned_noise import planned_parts
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.outcome.planning import REACH, OutcomeTestPlan, power_of, sample_size
from auditor_client.reporting.rounding import percent

POWER = 0.8
# A test that finds only larger differences than this is refused: real differences are rarely
# larger.
LARGE = 0.2
# Differences that are tried, as parts of the outcome's range.
_EFFECTS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return the smallest difference in a bin that is found with power 80 %."""
    groups, bins = len(audience.people), len(request.bins.edges) - 1
    name, people = audience.smallest
    rows = request.rows_per_person
    # The epsilon of Laplace noise with the variance of this release's noise.
    scale = math.sqrt(planned_parts(request, audience)["moments"].variance / 2)
    epsilon = REACH * rows / scale
    effect = next(
        (each for each in _EFFECTS if _power(each, bins, groups, epsilon, rows, people) >= POWER),
        None,
    )
    who = (
        f"With {people:,} people in the smallest group ({name}), all of whom have rows, and {bins}"
        " bins"
    )
    width = request.outcome_range.high - request.outcome_range.low
    if effect is not None and effect <= LARGE:
        return Forecast(
            f"{who}, a difference of {effect * width:g} in one bin is found with probability"
            f" {percent(POWER)}.",
            answers=True,
        )
    least = "no difference" if effect is None else f"only a difference from {effect * width:g} on"
    return Forecast(
        f"{who}, {least} would be found with probability {percent(POWER)}: the test would "
        "almost certainly be inconclusive.",
        answers=False,
        enough=_enough(bins, groups, epsilon, rows, people, width),
    )


def _power(effect: float, bins: int, groups: int, epsilon: float, rows: int, people: int) -> float:
    plan = OutcomeTestPlan(effect, bins, groups, epsilon, rows)
    return power_of(plan, people)


def _enough(bins: int, groups: int, epsilon: float, rows: int, people: int, width: float) -> str:
    """Return the people, or the epsilon, that find a large difference."""
    words = []
    try:
        needed = sample_size(
            LARGE, power=POWER, epsilon=epsilon, bins=bins, groups=groups, rows_per_person=rows
        )
        words.append(f"{needed:,} people per group")
    except InputError:
        pass
    for factor in (1.5, 2, 3, 4, 6, 8, 12, 16):
        if _power(LARGE, bins, groups, factor * epsilon, rows, people) >= POWER:
            words.append(f"{factor:g} times the epsilon")
            break
    fewer = next(
        (
            few
            for few in range(bins - 1, 0, -1)
            if _power(LARGE, few, groups, epsilon, rows, people) >= POWER
        ),
        None,
    )
    if fewer:
        words.append(f"{fewer} bins")
    found = ", or ".join(words) or "many more people"
    return f"Enough to find a difference of {LARGE * width:g} would be {found}."
