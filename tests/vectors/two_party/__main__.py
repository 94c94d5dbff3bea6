"""Writes the vectors anew, by hand and not by the code they are to check."""

import json
import struct
from hashlib import sha256, sha512, shake_256
from pathlib import Path
from typing import Any

from tests.vectors.two_party.proofs import proofs

HERE = Path(__file__).parent
TAG = b"platform-auditor/two-party/v2"
KINDS = {"HELLO": 1, "WELCOME": 2, "KEY": 3, "NEXT": 4, "ASK": 9}
TERMS = sha256(b"terms").digest()
RUN = sha256(b"run").digest()


def frame(number: int, kind: str, body: bytes, before: bytes, **odd: Any) -> bytes:
    run: bytes = odd.get("run", TERMS if number < 2 else RUN)
    sender = odd.get("sender", number % 2)
    head: bytes = odd.get("magic", b"2PARTY") + bytes(
        [odd.get("version", 2), odd.get("setting", 1)]
    )
    head += bytes([sender, KINDS[kind]]) + struct.pack(">I", odd.get("number", number))
    return head + run + before + struct.pack(">I", odd.get("length", len(body))) + body


def messages() -> dict[str, Any]:
    before = sha256(TAG + b"/chain" + TERMS).digest()
    good, chain = [], [before]
    for number, (kind, body) in enumerate(
        [("HELLO", b"a" * 32), ("WELCOME", b"p" * 32), ("KEY", b"k" * 40), ("NEXT", b"")]
    ):
        message = frame(number, kind, body, before)
        good.append({"kind": kind, "body": body.hex(), "message": message.hex()})
        before = sha256(TAG + b"/chain" + before + message).digest()
        chain.append(before)
    right = bytes.fromhex(good[2]["message"])
    odd = [
        ("empty", 2, b"", "message-truncated"),
        ("half a header", 2, right[:50], "message-truncated"),
        ("one byte short", 2, right[:-1], "message-truncated"),
        ("one byte more", 2, right + b"\0", "message-oversized"),
        (
            "other magic",
            2,
            frame(2, "KEY", b"k" * 40, chain[2], magic=b"3PARTY"),
            "message-malformed",
        ),
        ("next version", 2, frame(2, "KEY", b"k" * 40, chain[2], version=3), "message-version"),
        ("version before", 2, frame(2, "KEY", b"k" * 40, chain[2], version=1), "message-version"),
        (
            "version before, shorter",
            2,
            frame(2, "KEY", b"k", chain[2], version=1),
            "message-version",
        ),
        ("replayed", 2, bytes.fromhex(good[0]["message"]), "message-replayed"),
        ("too early", 1, right, "message-out-of-order"),
        ("other run", 2, frame(2, "KEY", b"k" * 40, chain[2], run=TERMS), "message-foreign"),
        ("other history", 2, frame(2, "KEY", b"k" * 40, chain[1]), "message-foreign"),
        ("other terms", 0, frame(0, "HELLO", b"a" * 32, chain[0], run=RUN), "message-foreign"),
        (
            "by the wrong party",
            2,
            frame(2, "KEY", b"k" * 40, chain[2], sender=1),
            "message-malformed",
        ),
        ("of the library", 2, frame(2, "KEY", b"k" * 40, chain[2], setting=2), "message-malformed"),
        ("another kind", 2, frame(2, "ASK", b"", chain[2]), "message-malformed"),
        (
            "lies about its length",
            2,
            frame(2, "KEY", b"k" * 40, chain[2], length=39),
            "message-malformed",
        ),
    ]
    bad = [{"name": n, "at": at, "message": m.hex(), "code": code} for n, at, m, code in odd]
    head = {"terms": TERMS.hex(), "run": RUN.hex(), "transcript": f"sha256:{chain[-1].hex()}"}
    return {**head, "good": good, "bad": bad}


def terms() -> dict[str, Any]:
    usual: dict[str, Any] = {
        "audit": "aud_1",
        "rows": 1_000,
        "groups": 6,
        "cells": 3,
        "weights": {"low": 0, "high": 1_000, "total": 1_000},
        "values": {"low": -5, "high": 5, "total": 10},
        "noise": 1_000_000,
        "moved": 0,
        "candidates": None,
    }

    def written(**changes: Any) -> str:
        return json.dumps(usual | changes, sort_keys=True, separators=(",", ":"))

    def good(name: str, text: str) -> dict[str, str]:
        digest = sha256(TAG + b"/terms" + text.encode()).hexdigest()
        return {"name": name, "json": text, "digest": digest}

    return {
        "good": [
            good("uploaded identifiers", written()),
            good("private set intersection", written(candidates=4_096)),
            good("queries as units", written(moved=3)),
        ],
        "bad": [
            {"name": "not JSON", "json": "{"},
            {"name": "not sorted", "json": json.dumps(usual, separators=(",", ":"))},
            {"name": "spaces", "json": json.dumps(usual, sort_keys=True)},
            {"name": "a field more", "json": written(seed=1)},
            {"name": "a field less", "json": written().replace('"rows":1000,', "")},
            {"name": "a word for a number", "json": written(rows="1000")},
            {"name": "no rows", "json": written(rows=0)},
            {"name": "no groups", "json": written(groups=0)},
            {"name": "too many cells", "json": written(cells=100_000)},
            {
                "name": "no room in bounds",
                "json": written(values={"low": 0, "high": 0, "total": 1}),
            },
            {"name": "bounds without 0", "json": written(values={"low": 1, "high": 2, "total": 2})},
            {"name": "no candidates", "json": written(candidates=0)},
            {"name": "beyond all moduli", "json": written(noise=2**250)},
        ],
    }


def points() -> dict[str, Any]:
    """Known answers of RFC 9496, Appendix A: encodings that are none, and hashes to points."""
    token = bytes(range(32))
    espresso = "Ristretto is traditionally a short shot of espresso coffee"
    hashed = sha512(TAG + b"/point" + RUN + token).hexdigest()
    return {
        "run": RUN.hex(),
        "token": token.hex(),
        "hash": hashed,
        "generator": "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76",
        "from_text": {espresso: "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46"},
        "bad": [
            "00" * 32,
            "00" + "ff" * 31,
            "ff" * 31 + "7f",
            "f3" + "ff" * 30 + "7f",
            "ed" + "ff" * 30 + "7f",
            "01" + "00" * 31,
            "01" + "ff" * 30 + "7f",
            "ed57ffd8c914fb201471d1c3d245ce3c746fcbe63a3679d51b6a516ebebe0e20",
            "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371",
        ],
    }


def expansion() -> dict[str, Any]:
    """Numbers below a prime: words of SHAKE-256, cut to its bits, without those that are above."""
    label, degree, primes = b"label", 16, [97, 2**61 - 1, 2**40 + 15]
    rows = []
    for number, prime in enumerate(primes):
        stream = shake_256(label + bytes([number])).digest(8 * 4_096)
        words = (int.from_bytes(stream[i : i + 8], "little") for i in range(0, len(stream), 8))
        bits = (prime - 1).bit_length()
        below = [word % 2**bits for word in words if word % 2**bits < prime]
        rows.append([str(word) for word in below[:degree]])
    return {
        "label": label.hex(),
        "degree": degree,
        "primes": [str(p) for p in primes],
        "rows": rows,
    }


if __name__ == "__main__":
    for made in (messages, terms, points, expansion, proofs):
        (HERE / f"{made.__name__}.json").write_text(json.dumps(made(), indent=1) + "\n")
