"""Private set intersection by commutative encryption, on ristretto255.

A token x becomes the point H(x), hashed with the run so that points of two runs never compare. With
the scalars a and b of the two parties, a·(b·H(x)) = b·(a·H(x)), so equal tokens give equal points.
Under the decisional Diffie–Hellman assumption, all other points look random. No key leads back from
a point to a token. The auditor proves that it returned every candidate under one key (`dleq`).

The group has prime order and one encoding for each point. libsodium's multiplication refuses an
encoding that is not canonical, and the identity, so a product also checks its factor.

[OHB26] arXiv:2606.27558 v1, §2.1, §2.3, §6.2. There: Curve25519 and SHA-256 with rejection.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha512

import rbcl

from privacy.two_party.domain_separation import TAG
from privacy.two_party.errors import EqualPointsError, PointError, SpentError

POINT = TOKEN = 32
# Points in one message.
CHUNK = 16_384

# Points in one task of a thread.
SLICE = 1_024

_LABEL = TAG + b"/point"
_NO_POINT = "a point is not canonical, or is the identity"

# `map`, or another function that runs the multiplications.
Spread = Callable[[Callable[[bytes], bytes], Iterable[bytes]], Iterable[bytes]]


def map_in_threads(work: Callable[[bytes], bytes], slices: Iterable[bytes]) -> Iterator[bytes]:
    """Run `map` with one thread per processor: libsodium runs without Python's lock."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(work, slices)


class Blinding:
    """Key of one party for one run, which it drops after the last use."""

    def __init__(self, spread: Spread = map_in_threads) -> None:
        self._scalar: bytes | None = rbcl.crypto_core_ristretto255_scalar_random()
        self._spread = spread

    def __reduce__(self) -> str:
        raise TypeError("a key must not be serialised or copied")

    def of_tokens(self, run: bytes, tokens: bytes) -> bytes:
        """Return the points of tokens in this run, blinded."""
        return self._each(partial(_hashed, run, self._secret()), tokens)

    def of_points(self, points: bytes) -> bytes:
        """Return points that the other party blinded, blinded by this one too."""
        return self._each(partial(_multiplied, self._secret()), points)

    @property
    def commitment(self) -> bytes:
        """The key times the generator, which fixes the key without revealing it."""
        return bytes(rbcl.crypto_scalarmult_ristretto255_base(self._secret()))

    def response(self, nonce: bytes, challenge: bytes) -> bytes:
        """Return nonce − challenge · key, for a nonce that is uniform and used once (`dleq`)."""
        product = rbcl.crypto_core_ristretto255_scalar_mul(challenge, self._secret())
        return bytes(rbcl.crypto_core_ristretto255_scalar_sub(nonce, product))

    def drop(self) -> None:
        """Drop the key: the object cannot be used afterwards."""
        self._scalar = None

    @property
    def dropped(self) -> bool:
        return self._scalar is None

    def _secret(self) -> bytes:
        if self._scalar is None:
            raise SpentError("the key for points was dropped: begin a new run")
        return self._scalar

    def _each(self, work: Callable[[bytes], bytes], data: bytes) -> bytes:
        return b"".join(self._spread(work, _slices(data)))


def check_points(points: bytes, spread: Spread = map) -> None:
    """Raise `PointError` if an encoding is not canonical, or is the identity."""
    if any(spread(_no_points, _slices(points))):
        raise PointError(_NO_POINT)


class DistinctPoints:
    """Points of several messages, of which none may repeat."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def take(self, points: bytes) -> None:
        """Add these points, or raise `EqualPointsError` and change nothing."""
        found = split_items(points)
        new = set(found)
        if len(new) != len(found) or not self._seen.isdisjoint(new):
            raise EqualPointsError(
                "two points are equal: every row and candidate must have its own"
            )
        self._seen |= new

    def clear(self) -> None:
        self._seen.clear()


def distinct_tokens(tokens: bytes) -> bytes:
    """Return the tokens with a random one, which names nobody, in place of each repetition."""
    seen, kept = set[bytes](), list[bytes]()
    for token in split_items(tokens):
        kept.append(os.urandom(TOKEN) if token in seen else token)
        seen.add(token)
    return b"".join(kept)


def split_items(data: bytes) -> Sequence[bytes]:
    """Return tokens or points, one by one."""
    return [data[start : start + POINT] for start in range(0, len(data), POINT)]


def _slices(data: bytes) -> Iterator[bytes]:
    step = SLICE * POINT
    return (data[start : start + step] for start in range(0, len(data), step))


def _no_points(points: bytes) -> bytes:
    """Return the encodings among these that are not points, or are the identity."""
    valid = rbcl.crypto_core_ristretto255_is_valid_point
    return b"".join(point for point in split_items(points) if not valid(point) or not any(point))


def _hashed(run: bytes, scalar: bytes, tokens: bytes) -> bytes:
    hashed = (sha512(_LABEL + run + token).digest() for token in split_items(tokens))
    points = map(rbcl.crypto_core_ristretto255_from_hash, hashed)
    return b"".join(rbcl.crypto_scalarmult_ristretto255(scalar, point) for point in points)


def _multiplied(scalar: bytes, points: bytes) -> bytes:
    try:
        return b"".join(rbcl.crypto_scalarmult_ristretto255(scalar, p) for p in split_items(points))
    except RuntimeError as error:
        raise PointError(_NO_POINT) from error
