"""Labels for the derivation of public randomness: the run, and each of its ciphertexts."""

from hashlib import sha256

# Version 2: the auditor commits to its key for points, and proves that it used no other key.
TAG = b"platform-auditor/two-party/v2"


def proof_label(part: str) -> bytes:
    """Return the domain of one hash of the proof in `dleq`."""
    return TAG + b"/dleq-" + part.encode()


def run_of(terms: bytes, asked: bytes, answered: bytes) -> bytes:
    """Return the run: the digest of the terms, the auditor's HELLO, and the platform's nonce."""
    return sha256(TAG + b"/run" + terms + asked + answered).digest()


def zero_label(run: bytes, ring: int) -> bytes:
    """Return the label that seeds the uniform half of the encryption of zero."""
    return TAG + b"/zero" + run + ring.to_bytes(1, "big")


def values_label(run: bytes, ring: int, cipher: int) -> bytes:
    """Return the label that seeds the uniform half of an encryption of values."""
    return TAG + b"/values" + run + ring.to_bytes(1, "big") + cipher.to_bytes(8, "big")


def weights_label(run: bytes, ring: int, cipher: int) -> bytes:
    """Return the label that seeds the uniform half of an encryption of weights."""
    return TAG + b"/weights" + run + ring.to_bytes(1, "big") + cipher.to_bytes(8, "big")
