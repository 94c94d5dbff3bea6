"""Building blocks that several kinds of audit share."""
