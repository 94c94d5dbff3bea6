"""Budgets: charts and forecasts of the remaining amounts."""
