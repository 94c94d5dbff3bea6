"""Encrypted sums: the platform's computation, and the addition of noise.

With weights w(X) = Σ wᵢ Xⁱ and values in reverse, v(X) = Σ vᵢ X^(−i), where X^(−i) = −X^(N−i)
because X^N = −1, the constant coefficient of w(X)·v(X) is Σ wᵢvᵢ. One product sums 8,191 rows, and
blocks add up. The last coefficient of a block is a guard with weight 0 and value 1.

The released part of each sum is one number and the uniform half:

    c₀[0] + (Q/t)·noise + flooding      the other coefficients of c₀ are dropped
    c₁ + a·u + e₁                       all of it

with (b, a) the auditor's encryption of zero, u ternary and e₁ a small error, fresh for each sum.
b·u goes to c₀. docs/explanation/two-party.md, "Encrypted sums in the service", says why each part
is needed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import seal
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.tables.bounded_table import Bounds, Cells
from privacy.two_party import randomness
from privacy.two_party.bfv_ring import Ring, add_modulo, to_residues
from privacy.two_party.flooding import Flooding
from privacy.two_party.residues import Words
from privacy.two_party.terms import RunTerms

# The encryptions of one block's weights in a ring, one for each group, in evaluation form.
Block = list[seal.Ciphertext]


@dataclass(frozen=True)
class NoisySums:
    """Ciphertexts of noisy sums: cell × ring × prime × (the one number, then the uniform half)."""

    words: Words


@dataclass(frozen=True)
class EncryptedTable:
    """Encrypted sums within bounds. The waist adds noise to them before they are sent."""

    bounds: Bounds
    sums: tuple["EncryptedSums", ...]

    def plus(self, noise: Cells) -> NoisySums:
        """Return the sums with noise and flooding, which may be sent to the holder of the key.

        Noise is reduced modulo t: if the sum wraps around, this is post-processing of a private
        result.
        """
        if noise.shape != self.bounds.shape:
            raise BoundsError("the noise does not have the shape of the table")
        cells = (
            np.stack([sums.released(cell, int(number)) for sums in self.sums])
            for cell, number in enumerate(noise.ravel())
        )
        return NoisySums(np.stack(list(cells)))


@dataclass(frozen=True)
class EncryptedSums:
    """Sums of all cells in one ring, in the order of groups and then of cells."""

    flooding: Flooding
    zero: seal.Ciphertext
    ciphers: list[seal.Ciphertext]

    def released(self, cell: int, noise: int) -> Words:
        """Return one sum with noise and flooding, after the modulus switch: the one number, and the
        uniform half.
        """
        ring = self.flooding.ring
        whole = ring.ciphertext(self.flooded(cell, noise), evaluated=False)
        ring.evaluator.mod_switch_to_next_inplace(whole)
        constant, uniform = ring.parts(whole)
        return np.concatenate([constant[:, :1], uniform], axis=1)

    def flooded(self, cell: int, noise: int) -> Words:
        """Return both halves: c₀ + b·u, with noise and flooding on its one number, and c₁ + a·u +
        e₁.
        """
        ring = self.flooding.ring
        half, uniform = rerandomise(ring, self.ciphers[cell], self.zero)
        drowned = _lift(ring, noise) + randomness.uniform_within(self.flooding.bound)
        half[:, 0] = [
            (int(number) + drowned) % p for number, p in zip(half[:, 0], ring.primes, strict=True)
        ]
        return np.stack([half, uniform])


def rerandomise(ring: Ring, cipher: seal.Ciphertext, zero: seal.Ciphertext) -> Words:
    """Return both halves of a ciphertext, c₀ + b·u and c₁ + a·u + e₁, as coefficients."""
    hiding = ring.evaluated(ring.plaintext(randomness.uniform_ternary(ring.degree)))
    both = ring.evaluator.multiply_plain(zero, hiding)
    ring.evaluator.add_inplace(both, cipher)
    ring.evaluator.transform_from_ntt_inplace(both)
    halves = ring.parts(both).copy()
    errors = to_residues(randomness.draw_errors(ring.degree), ring.primes)
    halves[1] = add_modulo(halves[1], errors, ring.primes)
    return halves


def encrypted_table(
    terms: RunTerms,
    zeros: list[seal.Ciphertext],
    blocks: Callable[[int], Iterator[Block]],
    values: NDArray[np.int64],
) -> EncryptedTable:
    """Return the table of Σ weights · values, of rows in the order of the weights (rows ×
    cells).
    """
    _check(terms, values)
    sums = tuple(
        EncryptedSums(
            flooding, zeros[number], _products(terms, flooding.ring, blocks(number), values)
        )
        for number, flooding in enumerate(terms.floodings)
    )
    return EncryptedTable(terms.bounds, sums)


def _check(terms: RunTerms, values: NDArray[np.int64]) -> None:
    declared = terms.values
    if values.shape != (terms.rows, terms.cells) or values.dtype != np.int64:
        raise BoundsError("there must be one row of 64-bit values for each row of weights")
    if values.min() < declared.low or values.max() > declared.high:
        raise BoundsError("a value is outside its declared bounds: clip it")
    if np.abs(values).sum(axis=1).max() > declared.total:
        raise BoundsError(
            "the values of one person add up to more than declared: drop them",
            case="above-the-declared-bounds",
        )


def _products(
    terms: RunTerms, ring: Ring, blocks: Iterator[Block], values: NDArray[np.int64]
) -> list[seal.Ciphertext]:
    evaluator, sums = ring.evaluator, list[seal.Ciphertext]()
    for number, block in enumerate(blocks):
        rows = values[number * terms.block_rows : (number + 1) * terms.block_rows]
        factors = [ring.evaluated(encode_values(ring, column)) for column in rows.T]
        for cell, (cipher, factor) in enumerate(product(block, factors)):
            made = evaluator.multiply_plain(cipher, factor)
            if number == 0:
                sums.append(made)
            else:
                evaluator.add_inplace(sums[cell], made)
    return sums


def encode_weights(ring: Ring, weights: NDArray[np.int64]) -> seal.Plaintext:
    """Return w(X): the rows in their order, zeros, and the guard's 0."""
    return ring.plaintext(np.pad(weights, (0, ring.degree - len(weights))))


def encode_values(ring: Ring, values: NDArray[np.int64]) -> seal.Plaintext:
    """Return v(X) = Σ vᵢ X^(−i), with the guard's 1 in the last coefficient."""
    padded = np.pad(values, (0, ring.degree - len(values)))
    padded[-1] = 1
    return ring.plaintext(np.concatenate([padded[:1], -padded[:0:-1]]))


def _lift(ring: Ring, message: int) -> int:
    """Return (Q/t)·message, rounded: the form of a message in a ciphertext."""
    t = ring.modulus
    return (prod(ring.primes) * (message % t) + t // 2) // t
