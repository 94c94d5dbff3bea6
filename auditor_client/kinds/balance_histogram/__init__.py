"""Balance histograms."""
