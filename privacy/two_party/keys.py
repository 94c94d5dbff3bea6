"""Key of homomorphic encryption, which the auditor holds for one run and then drops.

A ciphertext of m is (c₀, c₁) with c₀ + c₁·s = (Q/t)·m + e, for a ternary secret s and a small error
e. Its uniform half c₁ is not drawn but expanded from a label (`randomness.expand_label`) that names
the run and the position. So only c₀ is sent, which is half of the data, and no auditor can choose a
c₁ that hides less.

SEAL draws the key and the errors, and encrypts with its own uniform half a. Replacing a by the
expanded half needs only the key: c₀ = c₀' + (a − c₁)·s leaves c₀ + c₁·s unchanged.

The platform returns one number and not a polynomial: the constant coefficient of c₀, and all of c₁.
This is a ciphertext of that one coefficient alone (an LWE sample), and decrypts by the constant
coefficient of c₁·s: c₁[0]·s[0] − Σ_{i ≥ 1} c₁[i]·s[N − i].
"""

from math import prod

import numpy as np
import seal
from numpy.typing import NDArray

from privacy.two_party.bfv_ring import Ring, add_modulo, negate_modulo
from privacy.two_party.errors import NoiseBudgetError
from privacy.two_party.flooding import MARGIN
from privacy.two_party.randomness import expand_label
from privacy.two_party.residues import Words


class SecretKey:
    """Fresh key in one ring, in memory only."""

    def __init__(self, ring: Ring, key: seal.SecretKey | None = None) -> None:
        self.ring = ring
        self._key = key or seal.KeyGenerator(ring.context).secret_key()
        self._encryptor = seal.Encryptor(ring.context, self._key)
        secret = _evaluated(ring, self._key)
        self._multiplier = ring.multiplier(secret)
        self._turned = _rotate(ring, secret)

    def __reduce__(self) -> str:
        raise TypeError("a secret key must not be serialised or copied")

    def zero(self, label: bytes) -> Words:
        """Return an encryption of zero, with which the other party hides values."""
        return self.encrypt(seal.Plaintext(self.ring.degree), label)

    def export(self) -> bytes:
        """Return the key as numbers, only to seal it to the regulator."""
        return self.ring.secret_numbers(self._key)

    def encrypt(self, plain: seal.Plaintext, label: bytes) -> Words:
        """Return c₀ in evaluation form; c₁ is the expansion of the label."""
        ring = self.ring
        cipher = self._encryptor.encrypt_symmetric(plain)
        ring.evaluator.transform_to_ntt_inplace(cipher)
        own, uniform = ring.parts(cipher)
        public = expand_label(label, ring.primes, ring.degree)
        # c₀ = c₀' + (a − c₁)·s, number by number in evaluation form
        moved = add_modulo(uniform, negate_modulo(public, ring.primes), ring.primes)
        pair = ring.ciphertext(np.stack([moved, uniform]), evaluated=True)
        ring.evaluator.multiply_plain_inplace(pair, self._multiplier)
        return add_modulo(own, ring.parts(pair)[0], ring.primes)

    def decrypt(self, words: Words, most_noise: int) -> int:
        """Return the residue modulo t of one sum, if its noise is within this limit."""
        message, noise = self.read(words)
        if abs(noise) > most_noise:
            raise NoiseBudgetError("this sum has more noise than an honest platform adds")
        return message

    def read(self, words: Words) -> tuple[int, int]:
        """Return the message modulo t, and the noise, of a ciphertext of one number.

        `words` has a row for each remaining prime: the one number, then the uniform half.
        """
        primes, t = self.ring.primes[: len(words)], self.ring.modulus
        whole = prod(primes)
        phase = _combine([int(row[0]) + self._inner(row[1:]) for row in words], primes)
        # phase = (Q/t)·m + noise, so m is the integer nearest to t·phase / Q
        message = (phase * t + whole // 2) // whole
        return message % t, phase - (message * whole + t // 2) // t

    def decrypt_slots(self, parts: Words) -> Words:
        """Return the residues in all slots, if the noise leaves a margin of bits."""
        cipher = self.ring.ciphertext(parts, evaluated=False)
        decryptor = seal.Decryptor(self.ring.context, self._key)
        if decryptor.invariant_noise_budget(cipher) < MARGIN - 1:
            raise NoiseBudgetError("this product has more noise than an honest tester adds")
        plain = decryptor.decrypt(cipher)
        return np.asarray(seal.BatchEncoder(self.ring.context).decode_uint64(plain), np.uint64)

    def _inner(self, uniform: Words) -> int:
        """Return the constant coefficient of c₁·s, before it is taken modulo the prime."""
        # Halves of 32 bits, so that 8,192 of them do not overflow a word.
        high = (uniform >> np.uint64(32)).astype(np.int64) @ self._turned
        low = (uniform & np.uint64(0xFFFFFFFF)).astype(np.int64) @ self._turned
        return (int(high) << 32) + int(low)


def _evaluated(ring: Ring, key: seal.SecretKey) -> Words:
    """Return the secret in evaluation form, for the primes of fresh ciphertexts."""
    numbers = np.frombuffer(ring.secret_numbers(key), "<u8")
    return numbers.reshape(-1, ring.degree)[: len(ring.primes)]


def _rotate(ring: Ring, evaluated: Words) -> NDArray[np.int64]:
    """Return (s[0], −s[N−1], …, −s[1]), the factor of c₁ for the constant coefficient."""
    pair = ring.ciphertext(np.stack([evaluated, evaluated]), evaluated=True)
    row = ring.parts(ring.evaluator.transform_from_ntt(pair))[0][0]
    ternary = np.where(row > 1, -1, row.astype(np.int64))
    return np.concatenate([ternary[:1], -ternary[:0:-1]])


def _combine(numbers: list[int], primes: tuple[int, ...]) -> int:
    """Return the number with these residues, modulo the product of the primes."""
    whole = prod(primes)
    return (
        sum(
            number * (whole // prime) * pow(whole // prime, -1, prime)
            for number, prime in zip(numbers, primes, strict=True)
        )
        % whole
    )
