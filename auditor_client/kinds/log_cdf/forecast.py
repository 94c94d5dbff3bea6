"""Forecast of a distribution of a logged number."""

from typing import Any

from auditor_client.kinds.building_blocks.cumulative_forecast import running_forecast
from auditor_client.kinds.forecasts import Forecast, ForecastAudience


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return the accuracy of the distribution of rows, if every person has rows."""
    rows = request.rows_per_person
    return running_forecast(request, audience, unit="rows", rows=rows, sampled=False)
