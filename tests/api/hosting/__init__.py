"""Platforms behind HTTP, and as files."""
