"""Contents: trial content that auditors upload."""
