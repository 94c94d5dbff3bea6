"""Units of the parts of an envy-freeness audit."""

from typing import Any

from auditor_client.kinds.stated_errors import PartUnit
from privacy.plans.envy_freeness import COST_UNIT

_UNITS = {
    "counts": PartUnit("people"),
    "duration": PartUnit("steps of all people together"),
    "cost": PartUnit("reward of all people together", COST_UNIT),
}


def measure(_: Any, part: str) -> PartUnit:
    """Return the unit of a part."""
    return _UNITS[part]
