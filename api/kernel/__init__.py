"""Kernel: settings, errors, clock, limits and other small parts that every domain uses."""
