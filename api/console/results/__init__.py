"""Data that result pages show."""
