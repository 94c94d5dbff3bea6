"""A ledger of a million entries, verified offline from its export (`bench.exports`).

There are two comparisons. The first reads the same file, with SHA-256 of every line, and checks
every request's signature alone with the same library. The second parses every line by msgspec into
untyped values, with its SHA-256, and checks no signatures.
"""

import os
import tempfile
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import msgspec
from nacl.bindings import crypto_sign_open
from rich.console import Console

from bench import exports
from bench.exports import base64
from bench.harness import Figure, in_turns
from privacy.ledger.export_lines import parse, signed_payload
from tests.ledgers import ORIGIN

COMMAND = "python -m bench ledger"
ROUNDS = 3

_decoder = msgspec.json.Decoder()


def run(size: int = 1_000_000) -> list[Figure]:
    """Measure on one core. Researchers work in sessions, or every request is its own session."""
    with tempfile.TemporaryDirectory() as folder, _one_core():
        entries = Path(folder) / "entries.jsonl"
        return [
            *_figures(entries, size, session=1, goal="≤ 2"),
            *_figures(entries, size, session=100, goal="≤ 1"),
        ]


def _figures(entries: Path, size: int, session: int, goal: str) -> list[Figure]:
    export = exports.write(entries, [size], session)
    signed = _signed(export.lines(size))
    took = in_turns(
        {
            "ours": lambda: export.verified(size),
            "signatures": lambda: _floor(export.lines(size), signed),
            "parsing": lambda: _parsed(export.lines(size)),
        },
        ROUNDS,
    )
    words = f"in sessions of {session} requests" if session > 1 else "every request alone"
    name = f"ledger of {size:,} entries verified on one core, {words}; compared with"
    hashed = f"{name} a hash per entry and each request's signature"
    parsed = f"{name} bare parsing and a hash per entry"
    figures = [
        Figure.of(hashed, took["ours"], took["signatures"], goal, COMMAND),
        Figure.of(parsed, took["ours"], took["parsing"], "≤ 4", COMMAND),
    ]
    Console().print(f"{size:,} entries, {words}: {figures[0].ours:.1f} s on one core")
    return figures


@contextmanager
def _one_core() -> Iterator[None]:
    """Restrict the process to one core, where the system allows it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _signed(lines: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """Return signature with message, and the public key, of every charge."""
    keys, jobs = dict[str, bytes](), []
    for line in lines:
        entry = parse(line.removesuffix(b"\n"))
        if entry.kind == "researcher":
            x = entry.facts["jwk"]["x"]
            keys[entry.facts["researcher_id"]] = urlsafe_b64decode(x + "==")
        elif entry.kind == "charge" and entry.statement is not None:
            protected, _, signature = entry.statement.signature.partition("..")
            message = f"{protected}.{base64(signed_payload(ORIGIN, entry.kind, entry.statement))}"
            signed = urlsafe_b64decode(signature + "==") + message.encode()
            jobs.append((signed, keys[entry.statement.by]))
    return jobs


def _parsed(lines: Iterable[bytes]) -> None:
    for line in lines:
        _decoder.decode(line)
        sha256(line).digest()


def _floor(lines: Iterable[bytes], signed: list[tuple[bytes, bytes]]) -> None:
    for line in lines:
        sha256(line).digest()
    for job in signed:
        crypto_sign_open(*job)
