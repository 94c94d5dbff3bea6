"""Bit mixing: a bijection of words that provides repeatable pseudorandomness.

[SLF14] Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
"""

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
GOLDEN = 0x9E3779B97F4A7C15


def splitmix64(bits: Bits) -> Bits:
    """Return a pseudorandom bijection of 64-bit words.   [SLF14, the 64-bit finaliser]"""
    bits = bits + word(GOLDEN)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def word(number: int) -> np.uint64:
    return np.uint64(number % 2**64)
