"""Audits: pricing, charges, runs, releases and progress."""
