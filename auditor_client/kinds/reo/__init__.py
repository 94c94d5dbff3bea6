"""Ranking-based equal opportunity (REO)."""
