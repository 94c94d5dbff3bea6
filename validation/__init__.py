"""Simulations of coverage and error rates, outside the wheel."""
