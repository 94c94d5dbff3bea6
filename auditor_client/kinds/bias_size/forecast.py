"""Forecast of a bias size: the accuracy of the change of opportunities."""

import math
from typing import Any

from auditor_client.kinds.bias_size.units import ROW
from auditor_client.kinds.building_blocks.planned_noise import planned_parts
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.reporting.rounding import percent

_TOO_WIDE = 1.0
_GOOD = 0.2


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return the error of each number of opportunities, and of its change."""
    off = planned_parts(request, audience)["sums"].error_95 / ROW
    name, people = audience.smallest
    rows = max(people * request.rows_per_person, 1)
    # Both numbers of opportunities have errors; the change is their ratio.
    half = 2 * off / rows
    said = (
        f"Each number of opportunities will be within ±{math.ceil(off):,} rows (95 % confidence)."
        f" If each of the {people:,} people of the smallest group ({name}) has an opportunity, its"
        f" change will be known to within about ±{percent(half, 1)}."
    )
    if half <= _TOO_WIDE:
        return Forecast(said, answers=True)
    return Forecast(
        f"{said} That is not accurate enough to tell whether opportunities change.",
        answers=False,
        enough=f"Enough would be {math.ceil(half / _GOOD):,} times the people or the epsilon.",
    )
