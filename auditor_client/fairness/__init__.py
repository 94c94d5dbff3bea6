"""Fairness of score distributions: gap, intervals, drivers and metrics."""
