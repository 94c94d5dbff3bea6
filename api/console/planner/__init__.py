"""Planner of the console: questions, and processes that calculate the answers."""
