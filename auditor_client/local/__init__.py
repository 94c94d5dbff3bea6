"""Files that the SDK keeps on the researcher's own machine."""
