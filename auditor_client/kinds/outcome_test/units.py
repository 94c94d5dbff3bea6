"""Units of the sums of an outcome test."""

from typing import Any

from privacy.plans.logs import MOMENT_UNITS

from auditor_client.kinds.stated_errors import PartUnit

# Units of one row.
ROW = MOMENT_UNITS["count"]


def measure(_: Any, __: str) -> PartUnit:
    """Return the unit of a part."""
    return PartUnit("rows", ROW)
