"""Simulated opportunities and their outcomes, for outcome tests."""
