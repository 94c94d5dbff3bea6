"""Forecast of an REO audit: whether the penalty will be defined, and its accuracy.

The numbers of rows of random traffic and of positive rows are private. The forecast assumes the
shares below; fewer rows of either kind give a wider interval.
"""

import math
from typing import Any

from auditor_client.kinds.building_blocks.planned_noise import planned_parts
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.reo.penalty_estimate import ENOUGH
from auditor_client.reo.planning import TrafficRows, error_at
from auditor_client.reo.ratio_lines import four_fifths
from auditor_client.reporting.rounding import percent
from auditor_client.stats.noise_distributions import Laplace
from auditor_client.stats.noise_sums import sum_of_draws

RANDOM = 0.1
POSITIVE = 0.2
_MOST_TIMES = 10_000


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return whether random traffic will have enough positives, and the error of the penalty."""
    people = sum(audience.people.values())
    rows, groups = people * request.rows_per_person, len(request.groups)
    variance = planned_parts(request, audience)["counts"].variance
    cells = len(audience.people)
    expected = rows * RANDOM * POSITIVE / groups
    who = (
        f"{people:,} people have at most {rows:,} rows that count. About {expected:,.0f} will be"
        " positive random traffic of each group of creators. This assumes that"
        f" {percent(RANDOM)} of rows are random traffic, and that {percent(POSITIVE)} are positive."
    )
    if _defined(expected, variance * cells, request.rows_per_person):
        off = _error(rows, groups, variance, cells, request)
        threshold = four_fifths(groups).holds
        return Forecast(
            f"{who} The penalty of one strategy will then be known to within about ±{off:.2f}; the"
            f" four-fifths rule draws its line at {threshold:.2f}.",
            # With a larger error even a platform without bias could not be called fair.
            answers=off <= threshold,
            enough=""
            if off <= threshold
            else "A platform without bias could be called fair with about"
            f" {math.ceil(people * (off / threshold) ** 2):,} people, or with more rows of each"
            " (rows_per_person).",
        )
    times = next(
        (
            factor
            for factor in _factors()
            if _defined(expected * factor, variance * cells, request.rows_per_person)
        ),
        _MOST_TIMES,
    )
    return Forecast(
        f"{who} With this noise, these rows leave the penalty undefined.",
        answers=False,
        enough=f"Enough would be {math.ceil(people * times):,} people, more rows of each"
        " (rows_per_person), or more epsilon.",
    )


def _factors() -> list[float]:
    return [1.1**step for step in range(1, 97)]


def _defined(expected: float, variance: float, rows: int) -> bool:
    """Return whether a count of this size is treated as normal (`penalty_estimate.too_small`)."""
    return expected >= ENOUGH * math.sqrt(rows * max(expected, 0.0) + variance)


def _error(rows: float, groups: int, variance: float, cells: int, request: Any) -> float:
    names = [str(number) for number in range(groups)]
    shares = dict.fromkeys(names, POSITIVE / groups)
    shown = rows * (1 - RANDOM) / len(request.strategies)
    traffic = TrafficRows(max(round(shown), 1), max(round(rows * RANDOM), 1))
    noise = sum_of_draws(Laplace(math.sqrt(2 / variance)), cells)
    return error_at(shares, shares, traffic, noise=noise, rows_per_viewer=request.rows_per_person)
