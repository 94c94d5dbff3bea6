"""Ledger: append-only, with signed statements of people, verifiable by anyone who holds the
keys.
"""

from api.ledger.entries import Draft, append, append_all, lock, to_wire

__all__ = ["Draft", "append", "append_all", "lock", "to_wire"]
