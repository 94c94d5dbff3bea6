"""Metrics of disparity from one release, at no further cost, each with an interval.

Each module holds one metric of two groups. All use `group_view`: the view of one group that a
release (a histogram or cumulative counts) gives. docs/explanation/metrics.md has the definitions
and the proofs.

This file imports nothing, because results import `mixin` and the command must start without
SciPy.
"""
