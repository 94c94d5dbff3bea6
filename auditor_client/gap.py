"""The fairness gap of a release, with its confidence limits and verdict."""

from auditor_client.fairness.gap import FairnessGap, fairness_gap

__all__ = ["FairnessGap", "fairness_gap"]
