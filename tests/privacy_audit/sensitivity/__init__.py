"""The sensitivity search: `python -m tests.privacy_audit sensitivity`.

For every kind of audit and every option of its request, the platform's own half runs without noise
on neighbouring worlds. The largest change of each table is compared with the bounds that its price
rests on, under both relations. Matching, sampling, confirmation and candidates are part of each
world, so that one person who displaces another is seen.
"""
