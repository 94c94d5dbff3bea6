"""Paper 5: two-party measurement."""
