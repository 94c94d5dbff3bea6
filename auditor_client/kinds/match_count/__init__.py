"""Match counts."""
