"""Replications of the five papers, outside the wheel."""
