"""Checks of consistency: repeats, canaries and comparisons of releases."""
