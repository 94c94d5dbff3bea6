"""Bounded tables: cells, sensitivity, membership and price."""
