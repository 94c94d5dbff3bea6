"""Forecast of a two-party audit: the noise of each sum compared with the people of a group."""

import math
from typing import Any

from auditor_client.kinds.building_blocks.planned_noise import planned_parts
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.kinds.two_party.units import unit_of
from auditor_client.reporting.rounding import percent

_TOO_MUCH = 0.5
_GOOD = 0.1


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return the error of each sum, in people and as a share of a group of average size."""
    off = planned_parts(request, audience)["sums"].error_95 / unit_of(request)
    people = sum(audience.people.values())
    group = max(people / request.hidden_groups, 1.0)
    half = math.hypot(off / group, 0.98 / math.sqrt(group))
    said = (
        f"Each sum will be within ±{max(off, 0.1):,.1f} people (95 % confidence). Averages of a"
        f" group of about {group:,.0f} people will be known to within about ±{percent(half, 1)} of"
        " their range, if all of them count."
    )
    if half <= _TOO_MUCH:
        return Forecast(said, answers=True)
    return Forecast(
        f"{said} That has no information about a group.",
        answers=False,
        enough=f"Enough would be {math.ceil(off / group / _GOOD)} times the epsilon, or"
        f" {math.ceil(off / _GOOD) * request.hidden_groups:,} people.",
    )
