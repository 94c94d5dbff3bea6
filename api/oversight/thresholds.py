"""When a pattern is flagged: public numbers, in code, shown with every answer."""

from decimal import Decimal

from openapi.resources import Thresholds

THRESHOLDS = Thresholds(
    tiny_group=50,
    tiny_audiences=5,
    tiny_days=30,
    similarity=Decimal("0.9"),
    burst_times=5,
    burst_share=Decimal("0.2"),
    burst_history=5,
)
