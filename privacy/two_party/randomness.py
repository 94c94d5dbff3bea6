"""Secret randomness, only from the operating system's generator (R6).

`expand_label` gives public randomness that both parties derive from one label. So the uniform half
of a ciphertext is not sent, and nobody can choose it.
"""

import os
import secrets
from collections.abc import Callable
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

from privacy.two_party.residues import Words

# A centred binomial of 21 pairs of bits: variance 10.5, as the error that SEAL draws itself.
_PAIRS = 21
LARGEST_ERROR = _PAIRS


def uniform_below(modulus: int, count: int) -> Words:
    """Return uniform numbers below a modulus of at most 64 bits."""
    return _kept(os.urandom, modulus, count)


def expand_label(label: bytes, primes: tuple[int, ...], degree: int) -> Words:
    """Return uniform numbers below each prime, by SHAKE-256 of the label and the number of the
    prime.
    """
    rows = (
        _kept(shake_256(label + number.to_bytes(1, "big")).digest, prime, degree)
        for number, prime in enumerate(primes)
    )
    return np.stack(list(rows))


def uniform_ternary(count: int) -> NDArray[np.int64]:
    """Return uniform numbers among −1, 0 and 1."""
    return uniform_below(3, count).astype(np.int64) - 1


def draw_errors(count: int) -> NDArray[np.int64]:
    """Return small errors, with standard deviation 3.24 and magnitudes of at most 21."""
    bits = np.unpackbits(np.frombuffer(os.urandom(count * 6), np.uint8)).reshape(count, 48)
    heads = bits[:, :_PAIRS].sum(axis=1, dtype=np.int64)
    return np.asarray(heads - bits[:, _PAIRS : 2 * _PAIRS].sum(axis=1, dtype=np.int64))


def uniform_within(bound: int) -> int:
    """Return a uniform number from −bound to bound."""
    return secrets.randbelow(2 * bound + 1) - bound


def uniform_wide(bound: int, primes: tuple[int, ...], count: int) -> Words:
    """Return uniform numbers from −bound to bound − 1, modulo each prime; bound is a power of two
    of any size.
    """
    length = bound.bit_length() // 8 + 1
    stream, most = os.urandom(length * count), 2 * bound - 1
    drawn = (stream[start : start + length] for start in range(0, len(stream), length))
    numbers = [(int.from_bytes(bits) & most) - bound for bits in drawn]
    return np.array([[number % prime for number in numbers] for prime in primes], np.uint64)


def draw_permutation(count: int) -> NDArray[np.intp]:
    """Return 0 … count − 1 in uniform order: that of random words, which are too long to be
    equal.
    """
    return np.lexsort(np.frombuffer(os.urandom(16 * count), "<u8").reshape(2, count))


def _kept(stream: Callable[[int], bytes], modulus: int, count: int) -> Words:
    """Return the first `count` numbers below the modulus from a stream of words truncated to its
    bits.
    """
    mask = np.uint64((1 << (modulus - 1).bit_length()) - 1)
    drawn = count + 64
    while True:
        words = np.frombuffer(stream(8 * drawn), "<u8") & mask
        kept = words[words < modulus]
        if len(kept) >= count:
            return kept[:count]
        drawn *= 2
