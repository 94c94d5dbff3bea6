"""Simulated recommendations per person, for audits of envy."""
