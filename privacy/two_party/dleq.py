"""Batched proof of equal discrete logarithms on ristretto255 (DLEQ, Chaum–Pedersen).

The auditor commits to its exponent a by K = a·G before it sees any point of the platform. Later it
returns D_k = a·C_k for every candidate C_k. This proof shows that all of them have the exponent of
K, and reveals nothing else about a. docs/explanation/two-party.md says what follows for matching.

    seed  = SHA-512(tag/dleq-seed ‖ context ‖ K ‖ number ‖ C_0 … ‖ D_0 …)
    d_k   = scalar(SHA-512(tag/dleq-weight ‖ seed ‖ k))
    M = Σ d_k·C_k,   Z = Σ d_k·D_k                       the prover computes Z = a·M
    c     = scalar(SHA-512(tag/dleq-challenge ‖ seed ‖ M ‖ Z ‖ r·G ‖ r·M)),   s = r − c·a

The proof is c ‖ s. A verifier recomputes r·G as s·G + c·K and r·M as s·M + c·Z. `context` is the
run and the hash of all earlier messages, so a proof of one transcript fails in every other one.
`scalar` reduces 64 bytes modulo the group order, which is uniform up to 2^-260.

Soundness. Suppose some D_k differs from a·C_k. The seed covers all points, so every d_k is drawn
after all points are fixed. The group has prime order, so Z = a·M holds for at most one value of
that d_k: probability 2^-252 for each hash that the prover tries. If Z differs from a·M, then at
most one challenge has an answer, which is again 2^-252 for each hash. Points must be canonical and
must not be the identity; the callers check that (`private_set_intersection.check_points`).

[CP92] Chaum, Pedersen, Wallet Databases with Observers, CRYPTO 1992.
[RFC9497] Oblivious Pseudorandom Functions Using Prime-Order Groups, §2.2 (batched DLEQ; there the
          weight d_k covers C_k and D_k, and here it covers all points).
"""

from collections.abc import Iterator
from functools import partial, reduce
from hashlib import sha512

import rbcl

from privacy.two_party.domain_separation import proof_label
from privacy.two_party.errors import WrongProofError
from privacy.two_party.private_set_intersection import (
    POINT,
    SLICE,
    Blinding,
    Spread,
    map_in_threads,
    split_items,
)

SCALAR = 32
PROOF = 2 * SCALAR
_INDEX = 8


def prove(
    blinding: Blinding,
    context: bytes,
    candidates: bytes,
    reblinded: bytes,
    spread: Spread = map_in_threads,
) -> bytes:
    """Return the proof that `reblinded` is `candidates`, all multiplied by the committed key."""
    seed = _seed(context, blinding.commitment, candidates, reblinded)
    combined = _combination(seed, candidates, spread)
    nonce = rbcl.crypto_core_ristretto255_scalar_random()
    challenge = _challenge(
        seed,
        combined,
        blinding.of_points(combined),
        rbcl.crypto_scalarmult_ristretto255_base(nonce),
        rbcl.crypto_scalarmult_ristretto255(nonce, combined),
    )
    return challenge + blinding.response(nonce, challenge)


def verify(
    commitment: bytes,
    context: bytes,
    candidates: bytes,
    reblinded: bytes,
    proof: bytes,
    spread: Spread = map_in_threads,
) -> None:
    """Raise `WrongProofError` if the proof does not hold for these points and commitment."""
    challenge, response = proof[:SCALAR], proof[SCALAR:]
    if len(proof) != PROOF or not (_is_canonical(challenge) and _is_canonical(response)):
        raise WrongProofError("The proof is not two canonical scalars.")
    if not candidates or len(candidates) != len(reblinded):
        raise WrongProofError(
            "The number of returned points differs from the number of candidates."
        )
    seed = _seed(context, commitment, candidates, reblinded)
    try:
        combined = _combination(seed, candidates, spread)
        returned = _combination(seed, reblinded, spread)
        base = rbcl.crypto_scalarmult_ristretto255_base(response)
        first = _sum([base, _times(challenge, commitment)])
        second = _sum([_times(response, combined), _times(challenge, returned)])
    except RuntimeError as error:  # a product that is the identity, or a factor that is not a point
        raise WrongProofError("The proof does not hold for the returned points.") from error
    if _challenge(seed, combined, returned, first, second) != challenge:
        raise WrongProofError("The proof does not hold for the returned points.")


def _seed(context: bytes, commitment: bytes, candidates: bytes, reblinded: bytes) -> bytes:
    number = (len(candidates) // POINT).to_bytes(_INDEX, "big")
    hashed = sha512(proof_label("seed") + context + commitment + number)
    hashed.update(candidates)
    hashed.update(reblinded)
    return hashed.digest()


def _challenge(seed: bytes, *points: bytes) -> bytes:
    return _scalar(proof_label("challenge") + seed + b"".join(points))


def _combination(seed: bytes, points: bytes, spread: Spread) -> bytes:
    """Return Σ d_k·P_k, slice by slice."""
    return _sum(list(spread(partial(_slice_sum, seed), _numbered_slices(points))))


def _numbered_slices(points: bytes) -> Iterator[bytes]:
    """Yield the number of a slice's first point, then its points."""
    for start in range(0, len(points), SLICE * POINT):
        yield (start // POINT).to_bytes(_INDEX, "big") + points[start : start + SLICE * POINT]


def _slice_sum(seed: bytes, numbered: bytes) -> bytes:
    first, label = int.from_bytes(numbered[:_INDEX], "big"), proof_label("weight") + seed
    return _sum(
        [
            _times(_scalar(label + number.to_bytes(_INDEX, "big")), point)
            for number, point in enumerate(split_items(numbered[_INDEX:]), start=first)
        ]
    )


def _sum(points: list[bytes]) -> bytes:
    return reduce(rbcl.crypto_core_ristretto255_add, points)


def _times(scalar: bytes, point: bytes) -> bytes:
    return bytes(rbcl.crypto_scalarmult_ristretto255(scalar, point))


def _scalar(data: bytes) -> bytes:
    return bytes(rbcl.crypto_core_ristretto255_scalar_reduce(sha512(data).digest()))


def _is_canonical(scalar: bytes) -> bool:
    padded = scalar.ljust(2 * SCALAR, b"\0")
    return len(scalar) == SCALAR and scalar == rbcl.crypto_core_ristretto255_scalar_reduce(padded)
