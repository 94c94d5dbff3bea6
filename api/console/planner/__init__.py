"""The console's planner: questions, and processes that calculate the answers."""
