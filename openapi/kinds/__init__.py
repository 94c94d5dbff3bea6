"""Requests and releases of each kind of audit."""
