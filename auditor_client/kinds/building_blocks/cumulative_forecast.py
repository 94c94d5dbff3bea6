"""Forecast of cumulative counts: half-width of the distribution, from sampling and noise."""

import math
from typing import Any

from auditor_client.kinds.building_blocks.count_forecast import enough_epsilon
from auditor_client.kinds.building_blocks.planned_noise import planned_parts
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.reporting.rounding import percent

# A distribution with an error of half of all people has no information.
_TOO_WIDE = 0.5
_GOOD = 0.1


def running_forecast(
    request: Any, audience: ForecastAudience, *, unit: str, rows: int = 1, sampled: bool = True
) -> Forecast:
    """Return the accuracy of the share at or below each edge.

    `sampled`: the finding is about more people than the audience, so it has sampling error too.
    """
    off = math.ceil(planned_parts(request, audience)["cdf"].error_95)
    name, people = audience.smallest
    counted = max(people * rows, 1)
    noise, sampling = off / counted, 0.98 / math.sqrt(counted) if sampled else 0.0
    half = math.hypot(noise, sampling)
    said = (
        f"Each cumulative count will be within ±{off:,} {unit} (95 % confidence). Of the "
        f"smallest group ({name}: {people:,} people), the share at or below an edge will "
        f"be known to within about ±{percent(half, 1)}."
    )
    if half <= _TOO_WIDE:
        return Forecast(said, answers=True)
    return Forecast(
        f"{said} That has no information about the distribution.",
        answers=False,
        enough=f"Enough would be epsilon {enough_epsilon(request, noise, _GOOD)}, or"
        f" {math.ceil(off / _GOOD / rows):,} people in the smallest group.",
    )
