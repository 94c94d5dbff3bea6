"""Units of the sums of an outcome test."""

from typing import Any

from auditor_client.kinds.stated_errors import PartUnit
from privacy.plans.outcome_test import MOMENT_UNITS

# Units of one row.
ROW = MOMENT_UNITS["count"]


def measure(_: Any, __: str) -> PartUnit:
    """Return the unit of a part."""
    return PartUnit("rows", ROW)
