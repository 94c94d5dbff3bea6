"""Most skewed content."""
