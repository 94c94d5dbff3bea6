"""Vectors of the proof in PROOF, by hand.

They follow the text of docs/explanation/two-party.md, not the code.
"""

from hashlib import sha256, sha512
from typing import Any

import rbcl

TAG = b"platform-auditor/two-party/v2/dleq-"
ORDER = 2**252 + 27742317777372353535851937790883648493
IDENTITY = bytes(32)


def number(text: str) -> int:
    return int.from_bytes(sha512(text.encode()).digest(), "little") % ORDER


def scalar(value: int) -> bytes:
    return (value % ORDER).to_bytes(32, "little")


def hashed(data: bytes) -> int:
    return int.from_bytes(sha512(data).digest(), "little") % ORDER


def times(value: int, point: bytes) -> bytes:
    return bytes(rbcl.crypto_scalarmult_ristretto255(scalar(value), point))


def base(value: int) -> bytes:
    return bytes(rbcl.crypto_scalarmult_ristretto255_base(scalar(value)))


def point(text: str) -> bytes:
    return bytes(rbcl.crypto_core_ristretto255_from_hash(sha512(text.encode()).digest()))


KEY, NONCE = number("key"), number("nonce")
CONTEXT = sha256(b"run").digest() + sha256(b"messages").digest()
CANDIDATES = [point(f"candidate {k}") for k in range(5)]
ROWS = [times(KEY, point(f"row {k}")) for k in range(3)]


def proof(
    returned: list[bytes], context: bytes = CONTEXT, key: int = KEY, committed: int = KEY
) -> bytes:
    """Follow the formulas, honestly or not: Z is what the returned points add up to."""
    commitment = base(committed)
    seed = sha512(
        TAG + b"seed" + context + commitment + len(CANDIDATES).to_bytes(8, "big")
        + b"".join(CANDIDATES) + b"".join(returned)
    ).digest()  # fmt: skip
    weights = [hashed(TAG + b"weight" + seed + k.to_bytes(8, "big")) for k in range(5)]
    combined, together = (
        total([times(d, p) for d, p in zip(weights, points, strict=True)])
        for points in (CANDIDATES, returned)
    )
    shown = combined + together + base(NONCE) + times(NONCE, combined)
    challenge = hashed(TAG + b"challenge" + seed + shown)
    return scalar(challenge) + scalar(NONCE - challenge * key)


def total(points: list[bytes]) -> bytes:
    found = points[0]
    for each in points[1:]:
        found = rbcl.crypto_core_ristretto255_add(found, each)
    return bytes(found)


def proofs() -> dict[str, Any]:
    right = [times(KEY, each) for each in CANDIDATES]
    good = proof(right)
    usual: dict[str, Any] = {
        "context": CONTEXT,
        "commitment": base(KEY),
        "rows": b"".join(ROWS),
        "candidates": b"".join(CANDIDATES),
        "returned": b"".join(right),
        "proof": good,
    }
    beyond = (int.from_bytes(good[32:], "little") + ORDER).to_bytes(32, "little")
    wrong = [right[0], times(KEY + 1, CANDIDATES[1]), *right[2:]]
    block = [times(number(f"r{k}"), right[0]) for k in range(5)]
    swapped = [right[1], right[0], *right[2:]]
    no_point = b"\xff" * 32
    bad: list[tuple[str, str, dict[str, bytes]]] = [
        ("one candidate under another key", "wrong-proof",
         {"returned": b"".join(wrong), "proof": proof(wrong)}),
        ("one candidate under another key, the honest proof", "wrong-proof",
         {"returned": b"".join(wrong)}),
        ("one candidate in every place, each under a key of its own", "wrong-proof",
         {"returned": b"".join(block), "proof": proof(block)}),
        ("two points swapped", "wrong-proof",
         {"returned": b"".join(swapped), "proof": proof(swapped)}),
        ("all under another key than the commitment's", "wrong-proof",
         {"commitment": base(KEY + 1), "proof": proof(right, committed=KEY + 1)}),
        ("of another transcript", "wrong-proof", {"context": CONTEXT[:32] + bytes(32)}),
        ("of another run", "wrong-proof", {"context": bytes(32) + CONTEXT[32:]}),
        ("a challenge of 0", "wrong-proof", {"proof": bytes(32) + good[32:]}),
        ("all zeros", "wrong-proof", {"proof": bytes(64)}),
        ("a response that is not canonical", "wrong-proof", {"proof": good[:32] + beyond}),
        ("a proof cut short", "wrong-proof", {"proof": good[:-1]}),
        ("a commitment that is the identity", "point", {"commitment": IDENTITY}),
        ("a commitment that is not canonical", "point", {"commitment": no_point}),
        ("a returned point that is the identity", "point",
         {"returned": b"".join([IDENTITY, *right[1:]])}),
        ("a returned point that is not canonical", "point",
         {"returned": b"".join([*right[:-1], no_point])}),
        ("a returned point twice", "equal-points",
         {"returned": b"".join([right[1], *right[1:]])}),
        ("a row twice", "equal-points", {"rows": b"".join([ROWS[1], *ROWS[1:]])}),
    ]  # fmt: skip
    return {
        "key": scalar(KEY).hex(),
        "nonce": scalar(NONCE).hex(),
        "good": _hex(usual),
        "bad": [{"name": name, "code": code, **_hex(usual | odd)} for name, code, odd in bad],
    }


def _hex(case: dict[str, bytes]) -> dict[str, str]:
    return {name: value.hex() for name, value in case.items()}
