"""Forecast of a choice of the most skewed content."""

import math
from typing import Any

from auditor_client.kinds.building_blocks.count_forecast import enough_epsilon
from auditor_client.kinds.building_blocks.planned_noise import planned_parts
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.reporting.rounding import number, percent

_TOO_MUCH = 0.5
_GOOD = 0.1


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return the largest amount by which a content may be more skewed than the chosen one."""
    off = math.ceil(planned_parts(request, audience)["skew"].error_95)
    name, people = audience.smallest
    share = off / max(people, 1)
    said = (
        f"The chosen content’s skew will be at most about {off:,} people below the largest (95 %"
        f" confidence): {percent(share, 1)} of the smallest group ({name}: {people:,} people)."
    )
    if share <= _TOO_MUCH:
        return Forecast(said, answers=True)
    return Forecast(
        f"{said} The choice would be close to random.",
        answers=False,
        enough=f"Enough would be epsilon {enough_epsilon(request, share, _GOOD)}, or"
        f" {number(off / _GOOD, 0)} people in the smallest group.",
    )
