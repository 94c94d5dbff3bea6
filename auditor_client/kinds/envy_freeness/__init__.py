"""Envy-freeness audits."""
