"""Measures of disparity from one release, at no further budget, each with an interval.

Each module holds one measure of two groups. All rest on `group_view`: the view of one group that a
release, a histogram or a running count, gives. docs/explanation/metrics.md has the definitions and
the proofs.

This file imports nothing: results need `mixin`, and the command must start without SciPy.
"""
