"""Consistency checks: repeats, canaries and comparisons of releases."""
