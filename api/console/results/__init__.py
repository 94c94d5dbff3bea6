"""Data of the result pages."""
