"""Forecast of a distribution of scores."""

from typing import Any

from auditor_client.kinds.building_blocks.cumulative_forecast import running_forecast
from auditor_client.kinds.forecasts import Forecast, ForecastAudience


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return the accuracy of each group's distribution."""
    return running_forecast(request, audience, unit="people")
