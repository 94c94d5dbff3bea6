"""Signed integers as residues, with a zone in between that shows an overflow.

A sum x is computed modulo t₁, t₂, … (the smallest sufficient number), and recovered modulo T =
t₁·t₂·… by the Chinese remainder theorem. The residues modulo T are split in three parts: the first
third is x itself, the last is x + T for negative x, and the middle can only be an overflow.

[OHB26] arXiv:2606.27558 v1, §3.3 (the three regions). There T is Paillier's modulus; here it is a
        product of word-sized primes, because BFV takes plaintexts of at most 60 bits.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.two_party.errors import OverflowedError

# The largest primes of 59 bits that are 1 modulo 32,768, so that they also pack 16,384 slots.
MODULI = (576460752302473217, 576460752302080001, 576460752301785089, 576460752301391873)

Words = NDArray[np.uint64]


def moduli_for(largest: int) -> tuple[int, ...]:
    """Return the fewest moduli that represent every integer of magnitude up to `largest`."""
    for count in range(1, len(MODULI) + 1):
        if largest <= prod(MODULI[:count]) // 3:
            return MODULI[:count]
    raise BoundsError("sums this large cannot be computed exactly: declare narrower bounds")


def residues(integers: NDArray[np.int64], modulus: int) -> Words:
    """Return signed words modulo one modulus."""
    return np.asarray(np.mod(integers, modulus), np.uint64)


def centre(words: Words, modulus: int) -> NDArray[np.int64]:
    """Return residues as signed words, from −t/2 to t/2."""
    numbers = words.astype(np.int64)
    return np.where(numbers > modulus // 2, numbers - modulus, numbers)


def combine_residues(parts: Sequence[int], moduli: Sequence[int]) -> int:
    """Return the integer with these residues; raise an error for an overflow, in the middle
    third.
    """
    whole = prod(moduli)
    found = sum(
        part * (whole // modulus) * pow(whole // modulus, -1, modulus)
        for part, modulus in zip(parts, moduli, strict=True)
    )
    found %= whole
    # {0 … ⌊n/3⌋} unchanged, {⌊2n/3⌋+1 … n−1} minus n, overflow in between [OHB26, §3.3]
    if found <= whole // 3:
        return found
    if found > 2 * whole // 3:
        return found - whole
    raise OverflowedError("a sum left the range in which it is exact: declare wider bounds")
