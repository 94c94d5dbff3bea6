"""Units of the sums of a two-party audit."""

from typing import Any

from auditor_client.kinds.stated_errors import PartUnit
from privacy.metric_values.from_request import make_metric


def unit_of(request: Any) -> int:
    """Return the number of units of one person with weight 1 and value 1."""
    return int(request.weight_scale) * make_metric(request.metric.model_dump()).layout.scale


def measure(request: Any, _: str) -> PartUnit:
    """Return the unit of a part."""
    return PartUnit("people", unit_of(request))
