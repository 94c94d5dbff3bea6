"""Outcome tests."""
