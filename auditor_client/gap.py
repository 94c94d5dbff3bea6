"""The fairness gap of a release, with its confidence limits and verdict.

These are the public names; `auditor_client.fairness.gap` computes them.
"""

from auditor_client.fairness.gap import Criterion, FairnessGap, fairness_gap
from auditor_client.fairness.thresholds import ThresholdGap
from auditor_client.fairness.worst_impact import ImpactRatio

__all__ = ["Criterion", "FairnessGap", "ImpactRatio", "ThresholdGap", "fairness_gap"]
