"""Sizes of bias."""
