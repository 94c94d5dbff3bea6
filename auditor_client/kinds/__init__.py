"""Kinds of audit: the auditor half of each kind."""
