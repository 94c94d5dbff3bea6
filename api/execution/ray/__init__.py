"""Execution on a Ray cluster."""
