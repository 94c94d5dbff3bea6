"""Kinds of audit: the platform half of each, and the building blocks that they share."""
