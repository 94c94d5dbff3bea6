"""Budgets: charts and forecasts of what is left."""
