"""Distributions of scores."""
