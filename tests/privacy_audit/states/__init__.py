"""State search of the accounting: every order of a few operations, on the real service code."""
