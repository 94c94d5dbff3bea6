"""Distributions of a logged number."""
