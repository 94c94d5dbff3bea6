"""Audits: submitting, following and checking releases."""
