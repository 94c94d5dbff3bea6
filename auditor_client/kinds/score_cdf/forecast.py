"""Forecast of a distribution of scores."""

import math
from dataclasses import replace
from typing import Any

from auditor_client.kinds.building_blocks.cumulative_forecast import running_forecast
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from privacy.tables.tree_shape import tail_variances


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return how closely each distribution will be known, and whether a histogram is tighter."""
    found = running_forecast(request, audience, unit="people")
    tree, bins = tail_variances(len(request.bins.edges))
    if tree < bins:
        return found
    advice = (
        "A score-histogram with the same bins and epsilon knows the share above every edge more"
        f" closely: {math.sqrt(tree / bins):.1f} times less noise at the worst edge."
    )
    return replace(found, enough=" ".join(filter(None, (found.enough, advice))))
