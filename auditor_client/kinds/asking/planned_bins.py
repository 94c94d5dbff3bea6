"""Default bins of scores, from the planner, for the people and the noise of a request."""

from collections.abc import Mapping
from typing import Any

from auditor_client.kinds.asking.facts import RequestFacts
from auditor_client.kinds.building_blocks.planned_noise import planned_parts
from auditor_client.kinds.forecasts import ForecastAudience
from auditor_client.planning.default_bins import MATCHED, BinsQuestion, default_edges
from openapi.kinds.contract import KindContract


def planned_bins(
    contract: KindContract, field: str, fields: Mapping[str, Any], facts: RequestFacts
) -> dict[str, list[float]]:
    """Return the edges for a request whose other fields are all known.

    Raise ValidationError if the other fields are not a valid request.
    """
    scores = facts.catalogue().score_range
    whole = {**fields, field: {"edges": [scores.low, scores.high]}}
    request = contract.request(kind=contract.name, **whole)  # type: ignore[call-arg]
    audience = ForecastAudience.of(facts.audience(request.audience_id))
    return {"edges": default_edges(scores.low, scores.high, bins_question(request, audience))}


def bins_question(request: Any, audience: ForecastAudience) -> BinsQuestion:
    """Return the public facts that determine the edges of a request."""
    parts = list(planned_parts(request, audience).values())
    _, people = audience.smallest
    return BinsQuestion(
        people=people * (MATCHED if audience.source == "upload" else 1.0),
        variance=parts[0].variance,
        size_variance=parts[1].variance if len(parts) > 1 else 0.0,
        groups=max(len(audience.people), 2),
    )
