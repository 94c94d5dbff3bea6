"""Forecast of a score histogram: the power of its verdict."""

from typing import Any

from auditor_client.kinds.building_blocks.planned_noise import PlannedPart, planned_parts
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.planning.inverse import power_at
from auditor_client.planning.noise import Mechanism
from auditor_client.planning.power_simulation import SizeKind
from auditor_client.planning.sample_size import verdict_size
from auditor_client.reporting.rounding import percent
from openapi.resources import Levels
from privacy.tables.mechanism_prices import GAUSSIAN

ALPHA = 0.2
POWER = 0.8
# Below this power, an audit is almost certainly inconclusive.
LEAST_POWER = 0.2


def forecast(request: Any, audience: ForecastAudience, _: Any) -> Forecast:
    """Return the probability of a verdict on a fair platform, and the number of people that is
    enough.
    """
    groups = len(audience.people)
    parts = planned_parts(request, audience)
    bins = _bins(request)
    noise = _noise(parts["bins"])
    name, people = audience.smallest
    sizes: SizeKind = _sizes(parts, audience)
    try:
        needed = verdict_size(ALPHA, groups=groups, bins=bins, power=POWER, sizes=sizes, **noise)
    except ValueError:
        return Forecast(
            f"No number of people gives a verdict at {ALPHA:g} with this noise.",
            answers=False,
            enough="Use more epsilon.",
        )
    chance = 0.0
    if people > 1:
        everybody = list(audience.people.values())
        chance = power_at(everybody, 0.0, ALPHA, bins=bins, sizes=sizes, **noise).fair
    said = (
        f"With {people:,} people in the smallest group ({name}) and {bins - 1} bins, a platform"
        f" without a gap is called fair with probability {percent(chance)}, at a tolerated gap of"
        f" {ALPHA:g}."
    )
    if chance >= LEAST_POWER:
        more = (
            ""
            if chance >= POWER
            else f"{needed:,} people per group would make this probability 80 %."
        )
        return Forecast(said, answers=True, enough=more)
    return Forecast(
        said,
        answers=False,
        enough=f"Enough would be {needed:,} people per group; fewer bins and more epsilon need"
        " fewer people.",
    )


def _bins(request: Any) -> int:
    """Return the number of bins; scores outside all bins are one more."""
    bins = request.bins
    return 1 + (len(bins.levels) if isinstance(bins, Levels) else len(bins.edges) - 1)


def _sizes(parts: dict[str, PlannedPart], audience: ForecastAudience) -> SizeKind:
    if audience.source in ("sample", "confirmed"):
        return "known"
    return "noisy" if "sizes" in parts else "estimated"


def _noise(part: PlannedPart) -> dict[str, Any]:
    """Return the noise of one count in the form of the planners."""
    if part.mechanism == GAUSSIAN:
        mechanism: Mechanism = "discrete-gaussian"
        return {"mechanism": mechanism, "epsilon": None, "rho": 1 / (2 * part.variance)}
    return {"epsilon": 1 / part.scale}
