"""Noise that a ciphertext of a sum may have, and the flooding noise that must hide it.

The holder of the key reads the plaintext of a ciphertext and also its noise. The noise of a product
is the noise of one factor times the *other factor*, so the auditor could read the platform's values
from it. Therefore the platform adds uniform noise of a far larger range.

The arithmetic, for worst cases and not for averages:

    e        the noise of a ciphertext of weights: |e| ≤ FRESH in every coefficient. Honest ones
             have |e| ≤ 21 + ½: SEAL's error, and the rounding of the message. The opening of a
             transcript measures noise only up to a factor of two, and refuses larger noise.
    Σ e·v    the noise of Σ w·v in one coefficient: each value of each row meets one coefficient of
             an e, and each block has a guard of 1 (see `sums`):  FRESH · (rows · |v| + blocks).
    e·u      the noise of the encryption of zero that hides the uniform half, for ternary u:
             FRESH · N.
    e₁·s     the noise of the error on that half; s is ternary: 21 · N.
    worst    the sum of these three, and 1 for the rounding of the privacy noise.

The platform adds a number uniform over −B … B to each released number. The distribution of what is
read then differs from one that does not depend on v by a total variation of worst / (2B + 1). That
is at most 2^−(41 + log₂ N) for

    B ≥ 2^(40 + log₂ N) · worst.

(Only one coefficient of N is released. The factor N makes the statement hold for whole ciphertexts
too.) The result must still decrypt. With the last prime q switched away, and Q the product of the
others,

    noise    (worst + B) / q + (N + 1) / 2. The second term is for rounding two polynomials, of
             which one is multiplied by s.
    exact    if 2 · t · noise < Q. MARGIN bits more are required before anything is encrypted, and
             the noise itself is checked at decryption.
"""

from dataclasses import dataclass
from math import prod

from privacy.errors import BoundsError
from privacy.two_party.bfv_ring import Ring
from privacy.two_party.randomness import LARGEST_ERROR

FRESH = 128
STATISTICAL_BITS = 40
MARGIN = 8


@dataclass(frozen=True)
class Flooding:
    """Bounds for products with numbers whose magnitudes add up to `weight`.

    `drops`: the number of primes that are switched away before the result is sent.
    """

    ring: Ring
    weight: int
    drops: int = 1

    @property
    def worst(self) -> int:
        """The largest noise before flooding."""
        return FRESH * (self.weight + self.ring.degree) + LARGEST_ERROR * self.ring.degree + 1

    @property
    def bound(self) -> int:
        """Flooding is uniform over −bound … bound, a power of two."""
        # B ≥ 2^(40 + log₂ N) · worst
        return 1 << (self.ring.degree * self.worst << STATISTICAL_BITS).bit_length()

    @property
    def left(self) -> int:
        """The largest noise in the released numbers, after the modulus switch."""
        rounding = self.drops * ((self.ring.degree + 1) // 2 + 1)
        return (self.worst + self.bound) // prod(self.ring.primes[-self.drops :]) + 1 + rounding

    @property
    def kept(self) -> tuple[int, ...]:
        """The primes of the released numbers."""
        return self.ring.primes[: -self.drops]

    def check(self) -> None:
        """Raise an error unless the released numbers decrypt exactly, with a margin of bits."""
        if 2 * self.ring.modulus * self.left << MARGIN >= prod(self.kept):
            raise BoundsError(
                "the product of rows and values is too large for an exact and flooded "
                "sum: declare narrower values or a smaller scale, or split the audience",
                case="sum-too-large",
            )
