"""Units of the sums of a bias size."""

from typing import Any

from auditor_client.kinds.stated_errors import PartUnit
from privacy.plans.bias_size import BIAS_UNIT

# Units of one row.
ROW = BIAS_UNIT


def measure(_: Any, __: str) -> PartUnit:
    """Return the unit of a part."""
    return PartUnit("rows", ROW)
