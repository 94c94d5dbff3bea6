"""Simulated content: words, catalogue, features and the context of a view."""
