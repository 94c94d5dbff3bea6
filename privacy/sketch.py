"""Sketches of uploads, which give the similarity of two uploads and almost nothing else.

A sketch holds the `SIZE` smallest keyed hashes of the distinct 32-byte tokens of an upload (see
`privacy.commitment`). The hash is CBC-MAC with AES-256 over the token's two blocks, a pseudorandom
function for messages of one length, truncated to 64 bits. Without the key, nobody can test guesses
against a sketch or choose identifiers to influence one.

    S(A ∪ B)    the SIZE smallest of S(A) ∪ S(B)
    similarity  |S(A ∪ B) ∩ S(A) ∩ S(B)| / |S(A ∪ B)|, an estimate of |A ∩ B| / |A ∪ B|

[Tho13] Thorup, "Bottom-k and Priority Sampling, Set Similarity and Subset Sums with Minimal
Independence", arXiv:1303.5479, abstract (the estimate).
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from numpy.typing import NDArray

SIZE = 256
Hashes = NDArray[np.uint64]


@dataclass
class Sketch:
    """Smallest hashes so far, sorted and distinct; the sketch grows while tokens pass."""

    key: bytes = field(repr=False)
    smallest: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))

    def watch(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the same chunks of tokens unchanged, and add them to the sketch."""
        for chunk in chunks:
            self.add(chunk)
            yield chunk

    def add(self, tokens: bytes) -> None:
        hashes = keyed_hashes(self.key, tokens)
        if len(self.smallest) == SIZE:
            hashes = hashes[hashes < self.smallest[-1]]
        self.smallest = merge_sketches([self.smallest, hashes])


@dataclass(frozen=True)
class Similarity:
    """Jaccard similarity of two uploads, and the standard error of the estimate (0 if exact)."""

    estimate: float
    standard_error: float


def merge_sketches(sketches: Iterable[Hashes]) -> Hashes:
    """Return the sketch of several uploads together."""
    return np.unique(np.concatenate([np.empty(0, np.uint64), *sketches]))[:SIZE]


def similarity(one: Hashes, other: Hashes) -> Similarity:
    """Return the similarity of two uploads, from their sketches under one key."""
    both = np.union1d(one, other)[:SIZE]
    if len(both) == 0:
        return Similarity(0.0, 0.0)
    common = int(np.isin(both, np.intersect1d(one, other, assume_unique=True)).sum())
    if len(both) < SIZE:
        return Similarity(common / len(both), 0.0)  # nothing was truncated: these are all hashes
    # sqrt(p (1 - p) / k), with Laplace's p so that it is not 0 if all, or none, agree.
    share = (common + 1) / (len(both) + 2)
    return Similarity(common / len(both), math.sqrt(share * (1 - share) / len(both)))


def keyed_hashes(key: bytes, tokens: bytes) -> Hashes:
    """Return the hash of each 32-byte token."""
    # NumPy copies a block as one value, several times faster than rows of words.
    blocks = np.frombuffer(tokens, "V16").reshape(-1, 2)
    # AES(AES(first block) xor second block): all tokens at once, a block of each at a time.
    first = np.frombuffer(_encrypted(key, blocks[:, 0].tobytes()), "<u8")
    second = np.frombuffer(blocks[:, 1].tobytes(), "<u8")
    last = _encrypted(key, (first ^ second).tobytes())
    return np.frombuffer(last, "<u8")[::2].astype(np.uint64)


def _encrypted(key: bytes, blocks: bytes) -> bytes:
    # ECB is the bare cipher: each block is a separate message, and nothing is decrypted.
    encryptor = Cipher(AES(key), ECB()).encryptor()  # noqa: S305
    return encryptor.update(blocks) + encryptor.finalize()
