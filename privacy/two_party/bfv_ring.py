"""Ring of BFV, and the only conversion of numbers to objects of SEAL and back.

Ciphertexts are sent as bare numbers (`Words`, one row for each prime of the coefficient modulus),
not in SEAL's own format. Their length is known beforehand, and every number is checked to be below
its prime, so nothing is parsed. SEAL's own format is used only in memory.

A ring has N coefficients, a ciphertext modulus Q = q₁·q₂·…, and a plaintext modulus t. Only keys
use SEAL's last prime; `primes` are those of fresh ciphertexts, and all except the last of these are
the primes of ciphertexts after one modulus switch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod

import numpy as np
import seal
from numpy.typing import NDArray

from privacy.two_party.errors import CiphertextError
from privacy.two_party.residues import Words, residues

_RAW = seal.compr_mode_type.none


@dataclass(frozen=True)
class RingSize:
    """Degree and bits of the primes, with 128-bit security by the Homomorphic Encryption Standard.

    SEAL refuses other sets (`sec_level_type.tc128`).
    """

    degree: int
    bits: tuple[int, ...]


# One multiplication of small numbers, 59-bit sums, and at least 53 bits of flooding: 178 bits.
SUMS = RingSize(8_192, (60, 60, 58, 40))
# One multiplication in every slot, which multiplies noise by 59 bits more: 240 bits.
SLOTS = RingSize(16_384, (60, 60, 60, 60, 40))


@dataclass(frozen=True)
class Ring:
    """BFV of one size with one plaintext modulus."""

    size: RingSize
    modulus: int

    @cached_property
    def context(self) -> seal.SEALContext:
        parameters = seal.EncryptionParameters(seal.scheme_type.bfv)
        parameters.set_poly_modulus_degree(self.size.degree)
        parameters.set_coeff_modulus(
            seal.CoeffModulus.Create(self.size.degree, list(self.size.bits))
        )
        parameters.set_plain_modulus(self.modulus)
        context = seal.SEALContext(parameters, True, seal.sec_level_type.tc128)
        if not context.parameters_set():
            raise ValueError(f"SEAL refuses these parameters: {context.parameter_error_message()}")
        return context

    @property
    def degree(self) -> int:
        return self.size.degree

    @cached_property
    def primes(self) -> tuple[int, ...]:
        data = self.context.first_context_data().parms().coeff_modulus()
        return tuple(prime.value() for prime in data)

    @cached_property
    def evaluator(self) -> seal.Evaluator:
        return seal.Evaluator(self.context)

    def plaintext(self, coefficients: NDArray[np.int64]) -> seal.Plaintext:
        """Return a polynomial with these coefficients, signed."""
        plain = seal.Plaintext()
        words = residues(coefficients, self.modulus)
        plain.load_bytes(self.context, self._frames.plain + words.tobytes())
        return plain

    def evaluated(self, plain: seal.Plaintext) -> seal.Plaintext:
        """Return the polynomial in evaluation form, in which polynomials multiply number by
        number.
        """
        return self.evaluator.transform_to_ntt(plain, self.context.first_parms_id())

    def multiplier(self, evaluated: Words) -> seal.Plaintext:
        """Return a polynomial that is given in evaluation form, for each prime."""
        plain = seal.Plaintext()
        plain.load_bytes(self.context, self._frames.evaluated_plain + evaluated.tobytes())
        return plain

    def coefficients(self, plain: seal.Plaintext) -> Words:
        """Return all coefficients of a plaintext, including those that SEAL omits."""
        raw = plain.to_bytes(_RAW)
        words = np.frombuffer(raw, "<u8", offset=len(self._frames.plain))
        return np.pad(words, (0, self.degree - len(words)))

    def ciphertext(self, parts: Words, *, evaluated: bool) -> seal.Ciphertext:
        """Return a ciphertext of two polynomials, each given by a row for each remaining prime."""
        dropped = len(self.primes) - parts.shape[1]
        frame = self._frames.evaluated if evaluated else self._frames.ciphers[dropped]
        cipher = seal.Ciphertext()
        cipher.load_bytes(self.context, frame + parts.tobytes())
        return cipher

    def parts(self, cipher: seal.Ciphertext) -> Words:
        """Return the two polynomials of a ciphertext: part, prime, coefficient."""
        shape = (cipher.size(), cipher.coeff_modulus_size(), self.degree)
        raw = cipher.to_string(_RAW)
        return np.frombuffer(raw, "<u8", offset=len(raw) - 8 * prod(shape)).reshape(shape)

    def secret_key(self, numbers: bytes) -> seal.SecretKey:
        """Return a secret key from the numbers that `secret_numbers` returned."""
        return self.context.from_secret_str(self._frames.secret + numbers)

    def secret_numbers(self, key: seal.SecretKey) -> bytes:
        """Return a secret key in evaluation form, for each prime, including that of keys."""
        return bytes(key.to_string()[-self.secret_length :])

    @property
    def secret_length(self) -> int:
        return 8 * self.degree * len(self.size.bits)

    @property
    def length(self) -> int:
        """The number of bytes of one polynomial."""
        return 8 * self.degree * len(self.primes)

    @cached_property
    def _frames(self) -> "_Frames":
        return _Frames.of(self)


@dataclass(frozen=True)
class _Frames:
    """Headers that SEAL writes before the numbers, obtained from SEAL for each kind of object."""

    plain: bytes
    evaluated_plain: bytes
    ciphers: tuple[bytes, ...]
    evaluated: bytes
    secret: bytes

    @classmethod
    def of(cls, ring: Ring) -> "_Frames":
        keys = seal.KeyGenerator(ring.context)  # it protects nothing, and is discarded
        cipher = seal.Encryptor(ring.context, keys.secret_key()).encrypt_symmetric(
            plain := seal.Plaintext(f"1x^{ring.degree - 1}")
        )
        evaluated_plain = ring.evaluated(plain)
        evaluated = ring.evaluator.transform_to_ntt(cipher)
        words, times = 8 * ring.degree, len(ring.primes)
        return cls(
            plain.to_bytes(_RAW)[:-words],
            evaluated_plain.to_bytes(_RAW)[: -words * times],
            tuple(_switched_frames(ring, cipher)),
            evaluated.to_string(_RAW)[: -words * times * 2],
            keys.secret_key().to_string()[: -ring.secret_length],
        )


def _switched_frames(ring: Ring, cipher: seal.Ciphertext) -> Iterator[bytes]:
    """Yield the frames of a ciphertext with all its primes, with one fewer, and so on."""
    while True:
        length = 8 * ring.degree * cipher.coeff_modulus_size() * 2
        yield cipher.to_string(_RAW)[:-length]
        if cipher.coeff_modulus_size() == 1:
            return
        ring.evaluator.mod_switch_to_next_inplace(cipher)


@cache
def load_ring(size: RingSize, modulus: int) -> Ring:
    """Return the ring, made once because SEAL's tables take time."""
    return Ring(size, modulus)


def parse_words(data: bytes, shape: tuple[int, ...], primes: tuple[int, ...]) -> Words:
    """Return numbers from a message; the last axis but one runs over the primes that bound them."""
    words = np.frombuffer(data, "<u8").reshape(shape)
    if np.any(words >= np.array(primes, np.uint64)[:, np.newaxis]):
        raise CiphertextError("a coefficient is not below its modulus, so this is not a ciphertext")
    return words


def add_modulo(one: Words, other: Words, primes: tuple[int, ...]) -> Words:
    """Return the sum modulo each prime. Two numbers of 60 bits do not overflow a word."""
    total, moduli = one + other, np.array(primes, np.uint64)[:, np.newaxis]
    return np.where(total < moduli, total, total - moduli)


def negate_modulo(words: Words, primes: tuple[int, ...]) -> Words:
    """Return the negative modulo each prime."""
    moduli = np.array(primes, np.uint64)[:, np.newaxis]
    return np.where(words == 0, words, moduli - words)


def to_residues(integers: NDArray[np.int64], primes: tuple[int, ...]) -> Words:
    """Return small signed integers modulo each prime."""
    return np.stack([residues(integers, prime) for prime in primes])
