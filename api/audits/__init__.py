"""Audits: priced, charged, run, released, and followed."""
