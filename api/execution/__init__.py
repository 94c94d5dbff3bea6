"""Execution: people are read and reduced in the process of the worker, or on Ray."""
