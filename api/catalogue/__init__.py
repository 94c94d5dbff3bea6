"""Catalogue: the public offer of this platform."""
