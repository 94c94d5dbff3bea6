"""Private set intersection by commutative encryption, on ristretto255.

A token x becomes the point H(x), hashed with the run so that points of two runs never compare. One
party's key is a scalar a, the other's b; a·(b·H(x)) = b·(a·H(x)), so both keys on both sides make
equal tokens equal and, under the decisional Diffie–Hellman assumption, all else look random. There
is no key that leads back from a point to a token.

The group has prime order and one encoding for each point: libsodium's multiplication refuses what
is not canonical, and the identity, so a product is also the check that the factor was a point.

[OHB26] arXiv:2606.27558 v1, §2.1, §2.3, §6.2. There: Curve25519 and SHA-256 with rejection.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha512

import rbcl

from privacy.two_party.errors import PointError, SpentError

POINT = TOKEN = 32
# Points in one message.
CHUNK = 16_384

_TAG = b"platform-auditor/two-party/v1/point"
_SLICE = 1_024
_NO_POINT = "a point is not canonical, or is the identity"

# `map` or another: who does the multiplications.
Spread = Callable[[Callable[[bytes], bytes], Iterable[bytes]], Iterable[bytes]]


def side_by_side(work: Callable[[bytes], bytes], slices: Iterable[bytes]) -> Iterator[bytes]:
    """`map` in as many threads as there are processors: libsodium runs without Python's lock."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(work, slices)


class Blinding:
    """One party's key for one run, which it drops after the last use."""

    def __init__(self, spread: Spread = side_by_side) -> None:
        self._scalar: bytes | None = rbcl.crypto_core_ristretto255_scalar_random()
        self._spread = spread

    def __reduce__(self) -> str:
        raise TypeError("a key is neither written down nor copied")

    def of_tokens(self, run: bytes, tokens: bytes) -> bytes:
        """The points of tokens in this run, blinded."""
        return self._each(partial(_hashed, run, self._secret()), tokens)

    def of_points(self, points: bytes) -> bytes:
        """Points that the other party blinded, blinded by this one too."""
        return self._each(partial(_multiplied, self._secret()), points)

    def drop(self) -> None:
        """Be of no use from now on."""
        self._scalar = None

    @property
    def dropped(self) -> bool:
        return self._scalar is None

    def _secret(self) -> bytes:
        if self._scalar is None:
            raise SpentError("the key for points was dropped: begin a new run")
        return self._scalar

    def _each(self, work: Callable[[bytes], bytes], data: bytes) -> bytes:
        step = _SLICE * POINT
        slices = (data[start : start + step] for start in range(0, len(data), step))
        return b"".join(self._spread(work, slices))


def check_points(points: bytes) -> None:
    """Raise unless these are points, and none the identity."""
    for point in each(points):
        if not rbcl.crypto_core_ristretto255_is_valid_point(point) or not any(point):
            raise PointError(_NO_POINT)


def each(data: bytes) -> Sequence[bytes]:
    """Tokens or points, one by one."""
    return [data[start : start + POINT] for start in range(0, len(data), POINT)]


def _hashed(run: bytes, scalar: bytes, tokens: bytes) -> bytes:
    hashed = (sha512(_TAG + run + token).digest() for token in each(tokens))
    points = map(rbcl.crypto_core_ristretto255_from_hash, hashed)
    return b"".join(rbcl.crypto_scalarmult_ristretto255(scalar, point) for point in points)


def _multiplied(scalar: bytes, points: bytes) -> bytes:
    try:
        return b"".join(rbcl.crypto_scalarmult_ristretto255(scalar, p) for p in each(points))
    except RuntimeError as error:
        raise PointError(_NO_POINT) from error
