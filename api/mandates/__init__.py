"""Mandates: what a regulator granted, and what is left of it."""
