"""Statistics: noise distributions, tails, tests and limits."""
