"""Forecasts of kinds that release counts of people: the error compared with the number of
people.
"""

import math
from typing import Any

from auditor_client.kinds.building_blocks.planned_noise import planned_parts
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.reporting.rounding import error, number, percent

# A count is an answer if its error is at most this share of the smallest group.
_TOO_MUCH = 0.5
_GOOD = 0.1


def counts_forecast(request: Any, audience: ForecastAudience, part: str, what: str) -> Forecast:
    """Return the error of each count, in people and as a share of the smallest group."""
    off = math.ceil(planned_parts(request, audience)[part].error_95)
    name, people = audience.smallest
    share = off / max(people, 1)
    said = (
        f"{what} will be within {error(off)} (95 % confidence), which is"
        f" {percent(share, 1)} of the smallest group ({name}: {people:,} people)."
    )
    if share <= _TOO_MUCH:
        return Forecast(said, answers=True)
    return Forecast(
        f"{said} The noise hides a group of this size.",
        answers=False,
        enough=f"Enough would be epsilon {enough_epsilon(request, share)}, or"
        f" {number(off / _GOOD, 0)} people in the smallest group.",
    )


def enough_epsilon(request: Any, share: float, wanted: float = _GOOD) -> str:
    """Return the epsilon that reduces an error from one share to another, rounded up."""
    needed = float(request.epsilon) * share / wanted
    decimals = max(1 - math.floor(math.log10(needed)), 0)
    return f"{math.ceil(needed * 10**decimals) / 10**decimals:g}"
