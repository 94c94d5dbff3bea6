"""Paper 2: envy-freeness."""
