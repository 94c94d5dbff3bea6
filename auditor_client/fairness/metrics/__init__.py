"""Measures of disparity from one release, at no further budget, each with an interval.

Every file holds one measure of two groups. All rest on `sides`: what a release, a histogram or a
running count, says of one group. docs/metrics.md has the definitions and the proofs.
"""

from auditor_client.fairness.metrics.estimate import Estimate
from auditor_client.fairness.metrics.group_view import CdfSide, HistogramSide, Side

__all__ = ["CdfSide", "Estimate", "HistogramSide", "Side"]
