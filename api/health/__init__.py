"""Health of one process: probes, metrics, and the listener that serves them."""
