"""Thresholds of flags: public numbers, in code, stated with every answer."""

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
