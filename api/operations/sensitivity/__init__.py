"""Sensitivity search: the platform half of a kind, without noise, on small neighbouring worlds.

The largest change of each table is compared with the bounds of its price, under both relations.
Matching, sampling and confirmation are part of each world, so that one person who displaces another
is detected. The search finds mistakes; it proves nothing.
"""
