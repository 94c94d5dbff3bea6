"""Ciphertexts in messages: only the computed half, without the uniform half."""

from collections.abc import Sequence

import numpy as np
import seal

from privacy.two_party.bfv_ring import Ring, parse_words
from privacy.two_party.randomness import expand_label
from privacy.two_party.residues import Words


def expand_polynomials(rings: Sequence[Ring], data: bytes) -> Words:
    """Return the coefficients of c₀ of each ciphertext, in each ring, for each prime."""
    shape = (-1, len(rings), len(rings[0].primes), rings[0].degree)
    return parse_words(data, shape, rings[0].primes)


def rebuild_ciphertext(ring: Ring, half: Words, label: bytes) -> seal.Ciphertext:
    """Return a ciphertext from the received half and the half that follows from its label."""
    uniform = expand_label(label, ring.primes, ring.degree)
    return ring.ciphertext(np.stack([half, uniform]), evaluated=True)
