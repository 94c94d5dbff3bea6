"""Execution: people are read and reduced in the worker's process, or on Ray."""
