"""Score histograms."""
