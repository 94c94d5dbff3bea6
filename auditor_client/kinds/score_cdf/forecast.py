"""Forecast of a distribution of scores."""

from typing import Any

from auditor_client.kinds.building_blocks.cumulative_forecast import running_forecast
from auditor_client.kinds.forecasts import Forecast, ForecastAudience


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return how closely the distribution of each group will be known."""
    return running_forecast(request, audience, unit="people")
