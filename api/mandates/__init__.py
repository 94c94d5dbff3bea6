"""Mandates: the grants of regulators, and their remaining budgets."""
