"""The ledger: append-only, signed where people speak, verifiable by anyone who holds the keys."""

from api.ledger.entries import append, lock, view

__all__ = ["append", "lock", "view"]
