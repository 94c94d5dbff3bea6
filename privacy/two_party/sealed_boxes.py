"""Secrets sealed to a regulator: X25519 sealed boxes, which only the holder of the key can open.

The sender keeps no key that opens them, and they do not reveal who sealed them.
"""

from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox
from nacl.signing import SigningKey, VerifyKey

from privacy.two_party.errors import OpeningError

# An ephemeral public key and an authenticator.
OVERHEAD = 48


def seal(secret: bytes, public_key: bytes) -> bytes:
    """Return the secret for the holder of this X25519 key."""
    return SealedBox(PublicKey(public_key)).encrypt(secret)


def unseal(box: bytes, secret_key: bytes) -> bytes:
    """Return the content of a box that was sealed to this X25519 key."""
    try:
        return SealedBox(PrivateKey(secret_key)).decrypt(box)
    except CryptoError as error:
        raise OpeningError("this was not sealed to the given key, or it was altered") from error


def sealing_key_of(signing_key: bytes) -> bytes:
    """Return the X25519 public key that belongs to an Ed25519 public key."""
    return bytes(VerifyKey(signing_key).to_curve25519_public_key())


def opening_key_of(seed: bytes) -> bytes:
    """Return the X25519 private key that belongs to an Ed25519 private key (its 32 bytes of
    seed).
    """
    return bytes(SigningKey(seed).to_curve25519_private_key())
