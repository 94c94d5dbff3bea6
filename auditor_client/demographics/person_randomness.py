"""Randomness of a person: the same in every run, and unknown without the secret.

Fresh randomness in every run would compose: an adversary who sees many runs averages it away. A
stored table of draws would be data that the paper refuses to keep (§1.2, principle 4). So a draw is
a keyed hash of the person's identifier. BLAKE2b with the secret as its key is a pseudorandom
function [RFC 7693]: without the secret, the draws look like independent uniform numbers.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor_client.errors import InputError

Persons = Sequence[object] | NDArray[Any]

# 64 bytes of a hash are eight numbers.
WORDS = 8
_LEAST = 16


def drawn(secret: bytes, purpose: str, subjects: Iterable[object]) -> NDArray[np.uint64]:
    """Return eight uniform 64-bit numbers for each subject; another purpose gets other numbers."""
    if not _LEAST <= len(secret) <= 64:
        raise InputError(
            f"The secret must have {_LEAST} to 64 bytes. Make it once with "
            "secrets.token_bytes(32), and keep it with your key. Only the same secret repeats "
            "every person's draw.",
            case="secret-size",
        )
    person = purpose.encode()
    hashes = [
        blake2b(str(subject).encode(), key=secret, person=person).digest() for subject in subjects
    ]
    return np.frombuffer(b"".join(hashes), ">u8").astype(np.uint64).reshape(-1, WORDS)


def uniform(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the draws as numbers strictly between 0 and 1."""
    # Take the upper 53 bits, in the middle of their interval.
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
