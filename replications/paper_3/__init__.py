"""Paper 3: outcome tests."""
