"""Products under encryption, turned into additive shares; sums and resamples of shares.

The client encrypts its values in slots, 16,384 to a ciphertext. The tester multiplies each slot by
a weight, adds a mask r that is uniform modulo t, hides and floods, and sends it back; the client
decrypts w·v + r. Now the tester has −r and the client w·v + r: neither number says anything, and
together they are the product. Whatever is linear in the products each computes on its own shares,
in the clear and as fast as the clear: sums over cells, and sums over B resamples. Whoever is to
learn a result gets the other's share of *that*, and of nothing before it.

So a bootstrap costs no encryption at all. Resampled sums are M · Z modulo t, with M the number of
times that each resample takes each unit, and Z the shares of each unit: a product of matrices,
exact in doubles because shares are cut into limbs of 20 bits.

Noise. In slots, weights are a polynomial with coefficients up to t/2: the noise of a product is up
to N·(t/2) times that of the values, which is why this ring is larger than that of `sums`.

[OHB26] arXiv:2606.27558 v1, §3.1 and §3.5. There numerator and denominator are multiplied by one
        random integer, and a greatest common divisor gives them away; and the tester adds
        ciphertexts for each resample. Additive masks hide perfectly, and the sums are the same.
"""

from collections.abc import Iterator

import numpy as np
import seal
from numpy.typing import NDArray

from privacy.two_party import randomness
from privacy.two_party.flooding import Flooding
from privacy.two_party.library.rows import Places
from privacy.two_party.library.terms import LibraryTerms
from privacy.two_party.residues import Words, centred
from privacy.two_party.ring import Ring, added
from privacy.two_party.sums import hidden

Integers = NDArray[np.int64]
_LIMB = 20
_AT_A_TIME = 50


def in_slots(ring: Ring, integers: NDArray[np.int64], guard: int = 0) -> seal.Plaintext:
    """Integers, one a slot. The slots left over hold 0, and the last of all the guard.

    A block of weights has 1 there, and one of values 0: so no factor is 0 in all slots, which SEAL
    refuses.
    """
    slots = np.pad(integers, (0, ring.degree - len(integers)))
    slots[-1] += guard
    return seal.BatchEncoder(ring.context).encode(slots)


def masked(
    flooding: Flooding, cipher: seal.Ciphertext, zero: seal.Ciphertext, weights: Integers
) -> tuple[Words, Words]:
    """The mask of each slot, and the ciphertext of weights · values + mask, switched down."""
    ring = flooding.ring
    factor = ring.evaluated(in_slots(ring, weights, guard=1))
    halves = hidden(ring, ring.evaluator.multiply_plain(cipher, factor), zero)
    flood = randomness.wide(flooding.bound, ring.primes, ring.degree)
    halves[0] = added(halves[0], flood, ring.primes)
    whole = ring.ciphertext(halves, evaluated=False)
    mask = randomness.below(ring.modulus, ring.degree)
    ring.evaluator.add_plain_inplace(whole, in_slots(ring, centred(mask, ring.modulus)))
    for _ in range(flooding.drops):
        ring.evaluator.mod_switch_to_next_inplace(whole)
    return mask, ring.parts(whole)


def resamples(terms: LibraryTerms) -> Iterator[NDArray[np.float64]]:
    """How often the sample, and then each resample, takes each unit; some at a time."""
    generator = np.random.default_rng(terms.seed)
    yield np.ones((1, terms.units))
    for start in range(0, terms.resamples, _AT_A_TIME):
        count = min(_AT_A_TIME, terms.resamples - start)
        drawn = generator.integers(0, terms.units, (count, terms.units))
        times = [np.bincount(units, minlength=terms.units) for units in drawn]
        yield np.stack(times).astype(np.float64)


def summed(terms: LibraryTerms, modulus: int, places: Places, shares: Words) -> Words:
    """One party's shares (row × tuple × column) summed over cells, for the sample and resamples.

    Modulo t, in the shape of the result.
    """
    rows = [np.flatnonzero(places.cell == cell) for cell in range(terms.cells)]
    limbs = _limbs(shares.reshape(terms.rows, terms.products))
    chunks = [
        np.stack([_sums(times[:, places.unit[here]], limbs[here], modulus) for here in rows], 1)
        for times in resamples(terms)
    ]
    by_cell = np.concatenate(chunks).reshape(-1, terms.cells, len(terms.tuples), terms.columns)
    return np.ascontiguousarray(by_cell.transpose(0, 2, 1, 3))


def _limbs(shares: Words) -> NDArray[np.float64]:
    """Numbers of 60 bits in limbs of 20: row × number × limb."""
    shifts = np.arange(0, 3 * _LIMB, _LIMB, dtype=np.uint64)
    limbs = (shares[..., np.newaxis] >> shifts) & np.uint64(2**_LIMB - 1)
    return limbs.astype(np.float64)


def _sums(times: NDArray[np.float64], limbs: NDArray[np.float64], modulus: int) -> Words:
    """Σ times · number modulo t: resample × number. `MAX_TAKEN` times a limb has 53 bits."""
    _, numbers, _ = limbs.shape
    sums = times @ limbs.reshape(len(limbs), -1)
    low, middle, high = (
        sums.reshape(-1, numbers, 3)[..., limb].astype(np.int64).astype(object) for limb in range(3)
    )
    whole = low + (middle << _LIMB) + (high << 2 * _LIMB)
    return np.asarray(whole % modulus, np.uint64)
