"""A ledger of a million entries, verified offline from its export.

One entry in four is a signed charge: content, audience, charge and release per audit, of a hundred
auditors whose mandates renew. What it is compared with: reading the same file, SHA-256 of every
line, and every request's signature by itself, by the same library; and parsing every line by
msgspec, as we do, into whatever it says, with its SHA-256, and no signature at all.
"""

import os
import tempfile
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nacl.bindings import crypto_sign_open
from rich.console import Console

from bench.harness import Figure, compare
from privacy.ledger import statements
from privacy.ledger.entries import instant
from privacy.ledger.lines import parse, stated
from privacy.ledger.verify import Verified, verify
from privacy.receipts import digest
from tests.ledgers import ORIGIN, Ledger, Maker, charge_parts, head, header, identifier, trust

COMMAND = "python -m bench ledger"
AUDITORS = 100
EPSILONS = ("0.05", "0.1", "0.125", "0.2", "0.5")

_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder()


def run(size: int = 1_000_000) -> list[Figure]:
    """On one core. Researchers work in sessions, or every request is a session of its own."""
    with tempfile.TemporaryDirectory() as folder, _one_core():
        export = Path(folder) / "ledger.jsonl"
        return [
            *_figures(export, size, session=1, goal="≤ 2"),
            *_figures(export, size, session=100, goal="≤ 1"),
        ]


def _figures(export: Path, size: int, session: int, goal: str) -> list[Figure]:
    write(export, size, session)
    signed = _signed(export)
    words = f"in sessions of {session} requests" if session > 1 else "every request alone"
    figure = compare(
        f"ledger of {size:,} entries verified on one core, {words}; beside a hash per entry and "
        "each request's signature",
        lambda: check(export),
        lambda: _floor(export, signed),
        goal=goal,
        command=COMMAND,
        rounds=3,
    )
    Console().print(f"{size:,} entries, {words}: {figure.ours:.1f} s on one core")
    parsed = compare(
        f"ledger of {size:,} entries verified on one core, {words}; beside bare parsing and a "
        "hash per entry",
        lambda: check(export),
        lambda: _parsed(export),
        goal="≤ 4",
        command=COMMAND,
        rounds=3,
    )
    return [figure, parsed]


@contextmanager
def _one_core() -> Iterator[None]:
    """Where the system lets us choose."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def check(export: Path) -> Verified:
    with export.open("rb") as file:
        return verify(next(file), file, trust())


@dataclass
class Paying:
    """A researcher, the mandate that pays, and what they signed last in this session."""

    maker: Maker
    mandate: str
    session: int
    signed: int = 0
    link: str | None = None

    def after(self) -> str | None:
        self.signed += 1
        return self.link if self.signed % self.session else None


def write(export: Path, size: int, session: int) -> None:
    """An honest export of about this many entries."""
    ledger = Ledger.begun()
    paying = [_paying(ledger, number, session) for number in range(AUDITORS)]
    for number in range(len(ledger.lines), size - 3, 4):
        _audit(ledger, number, paying[number // 4 % AUDITORS])
    with export.open("wb") as file:
        file.write(header(len(ledger.lines), [head(ledger.lines, ledger.key)]) + b"\n")
        file.writelines(line + b"\n" for line in ledger.lines)


def _paying(ledger: Ledger, number: int, session: int) -> Paying:
    lab = ledger.auditor()
    renewal = {"kind": "rolling" if number % 2 else "fixed", "days": 30}
    mandate = ledger.mandate(
        lab, epsilon_limit="1000000", lifetime_limit="1000000000", renewal=renewal
    )
    return Paying(ledger.researcher(lab, f"researcher-{number}"), mandate, session)


def _audit(ledger: Ledger, number: int, paying: Paying) -> None:
    """Content, audience, charge and release, written faster than the service writes them."""
    maker, audit = paying.maker, identifier("audit", number)
    by = {"by": maker.id}
    content = {"content_id": identifier("content", number), "digest": digest(b"content"), **by}
    people = {"audience_id": identifier("audience", number), "source": "upload", **by}
    people |= {"commitment": digest(b"people"), "sizes": "noisy"}
    epsilon = EPSILONS[number % len(EPSILONS)]
    charge = identifier("charge", number)
    body, facts = charge_parts(charge, audit, paying.mandate, epsilon, "0.025")
    body["audience_id"] = people["audience_id"]
    released = {"audit_id": audit, "digest": digest(b"r"), "model_digest": digest(b"model")}
    _write(ledger, "content", content, paying)
    _write(ledger, "audience", people, paying)
    _write(ledger, "charge", facts, paying, body)
    _write(ledger, "release", released, paying)


def _write(
    ledger: Ledger,
    kind: str,
    facts: dict[str, Any],
    paying: Paying,
    body: dict[str, Any] | None = None,
) -> None:
    ledger.at += timedelta(seconds=1)
    entry = {
        "number": len(ledger.lines),
        "at": instant(ledger.at),
        "kind": kind,
        "auditor": paying.maker.auditor,
        "facts": facts,
    }
    if body is not None:
        made = int(ledger.at.timestamp())
        entry["statement"] = _statement(paying, kind, body, f"key-{len(ledger.lines)}", made)
    ledger.lines.append(_encoder.encode(entry))


def _statement(
    paying: Paying, kind: str, body: dict[str, Any], key: str, made: int
) -> dict[str, Any]:
    """What `statements.sign` makes, faster."""
    maker, after = paying.maker, paying.after()
    whole = {"platform": ORIGIN, "action": kind, "by": maker.id, "key": key, "body": body}
    plain = {"alg": "Ed25519", "iat": made, "kid": maker.key.thumbprint(), "typ": statements.TYPE}
    plain |= {"after": after} if after else {}
    protected = _base64(_encoder.encode(plain))
    private = maker.key.private_key
    assert isinstance(private, Ed25519PrivateKey)
    words = _encoder.encode(whole)
    signature = private.sign(f"{protected}.{_base64(words)}".encode())
    detached = f"{protected}..{_base64(signature)}"
    paying.link = statements.link(detached, words)
    return {"by": maker.id, "key": key, "body": body, "signature": detached}


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _lines(export: Path) -> Iterator[bytes]:
    with export.open("rb") as file:
        next(file)
        yield from file


def _signed(export: Path) -> list[tuple[bytes, bytes]]:
    """Signature with message, and the public key, of every charge."""
    keys, jobs = dict[str, bytes](), []
    for line in _lines(export):
        entry = parse(line.removesuffix(b"\n"))
        if entry.kind == "researcher":
            x = entry.facts["jwk"]["x"]
            keys[entry.facts["researcher_id"]] = urlsafe_b64decode(x + "==")
        elif entry.kind == "charge" and entry.statement is not None:
            protected, _, signature = entry.statement.signature.partition("..")
            message = f"{protected}.{_base64(stated(ORIGIN, entry.kind, entry.statement))}"
            signed = urlsafe_b64decode(signature + "==") + message.encode()
            jobs.append((signed, keys[entry.statement.by]))
    return jobs


def _parsed(export: Path) -> None:
    for line in _lines(export):
        _decoder.decode(line)
        sha256(line).digest()


def _floor(export: Path, signed: list[tuple[bytes, bytes]]) -> None:
    for line in _lines(export):
        sha256(line).digest()
    for job in signed:
        crypto_sign_open(*job)
