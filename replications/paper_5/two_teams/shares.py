"""Products under encryption, turned into additive shares; sums of shares.

The client encrypts its values in slots, 16,384 to a ciphertext. The tester multiplies each slot by
a weight, adds a mask r that is uniform modulo t, hides and floods, and sends it back; the client
decrypts w·v + r. Now the tester has −r and the client w·v + r: each number alone is uniform, and
their sum is the product. Each party sums its own shares over the rows of each cell, unencrypted.
The party that learns a sum gets only the other's share of that sum.

There is one sum for each cell, tuple and column, and no resample. Sums of resamples whose draws are
known are linear equations: with one resample per unit, the learner solves for every product.

Noise. In slots, weights are a polynomial with coefficients up to t/2: the noise of a product is up
to N·(t/2) times that of the values, which is why this ring is larger than that of `sums`.

[OHB26] arXiv:2606.27558 v1, §3.1 and §3.5. There numerator and denominator are multiplied by one
        random integer, and a greatest common divisor gives them away. Additive masks hide
        perfectly, and the sums are the same.
"""

import numpy as np
import seal
from numpy.typing import NDArray

from privacy.two_party import randomness
from privacy.two_party.bfv_ring import Ring, add_modulo
from privacy.two_party.flooding import Flooding
from privacy.two_party.residues import Words, centre
from privacy.two_party.sums import rerandomise
from replications.paper_5.two_teams.rows import Places
from replications.paper_5.two_teams.terms import LibraryTerms

Integers = NDArray[np.int64]
_HALF = np.uint64(30)


def in_slots(ring: Ring, integers: NDArray[np.int64], guard: int = 0) -> seal.Plaintext:
    """Return integers, one per slot. Unused slots have 0, and the last slot the guard.

    A block of weights has 1 there, and one of values 0: so no factor is 0 in all slots, which SEAL
    refuses.
    """
    slots = np.pad(integers, (0, ring.degree - len(integers)))
    slots[-1] += guard
    return seal.BatchEncoder(ring.context).encode(slots)


def masked(
    flooding: Flooding, cipher: seal.Ciphertext, zero: seal.Ciphertext, weights: Integers
) -> tuple[Words, Words]:
    """Return the mask of each slot, and the ciphertext of weights · values + mask, switched
    down.
    """
    ring = flooding.ring
    factor = ring.evaluated(in_slots(ring, weights, guard=1))
    halves = rerandomise(ring, ring.evaluator.multiply_plain(cipher, factor), zero)
    flood = randomness.uniform_wide(flooding.bound, ring.primes, ring.degree)
    halves[0] = add_modulo(halves[0], flood, ring.primes)
    whole = ring.ciphertext(halves, evaluated=False)
    mask = randomness.uniform_below(ring.modulus, ring.degree)
    ring.evaluator.add_plain_inplace(whole, in_slots(ring, centre(mask, ring.modulus)))
    for _ in range(flooding.drops):
        ring.evaluator.mod_switch_to_next_inplace(whole)
    return mask, ring.parts(whole)


def summed(terms: LibraryTerms, modulus: int, places: Places, shares: Words) -> Words:
    """Return one party's shares (row × tuple × column) summed over cells, modulo t."""
    # Halves of 30 bits: `MAX_ROWS` of them do not overflow a word.
    low, high = np.zeros((2, terms.cells, len(terms.tuples), terms.columns), np.uint64)
    np.add.at(low, places.cell, shares & np.uint64(2**30 - 1))
    np.add.at(high, places.cell, shares >> _HALF)
    whole = low.astype(object) + (high.astype(object) << int(_HALF))
    sums = np.asarray(whole % modulus, np.uint64)
    return np.ascontiguousarray(sums.transpose(1, 0, 2))
