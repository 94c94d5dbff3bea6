"""Simulated people: demographics, names, places, occupations and interests."""
