"""Forecast of a balance histogram."""

from typing import Any

from auditor_client.kinds.building_blocks.count_forecast import counts_forecast
from auditor_client.kinds.forecasts import Forecast, ForecastAudience


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return the error of each number of people."""
    return counts_forecast(request, audience, "balances", "Each number of people")
