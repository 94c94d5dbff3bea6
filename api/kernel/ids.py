"""Identifiers of resources: a word, then time and randomness, so that they sort by age.

`audit_` + 12 hex digits of milliseconds + 18 hex digits of randomness (72 bits).
"""

import secrets
import time


def new_id(word: str) -> str:
    """Return a new identifier, e.g. `audit_0193…`."""
    return f"{word}_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(9)}"
