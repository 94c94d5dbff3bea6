"""Figures: each a ratio of two things measured in the same run on the same machine."""
