"""The catalogue: what this platform offers, for everybody to read."""
