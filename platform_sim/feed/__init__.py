"""A simulated feed with random traffic, for audits of logs."""
