"""A ledger of a million entries, verified offline from its export.

One entry in four is a signed charge: content, audience, charge and release per audit, of a hundred
auditors whose mandates renew. The floor is what nobody can do without: reading the same file,
SHA-256 of every line, and the same signatures by the same library on as many threads.
"""

import os
import tempfile
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

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


def run(size: int = 1_000_000) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        export = Path(folder) / "ledger.jsonl"
        write(export, size)
        signed = _signed(export)
        started = time.perf_counter()
        verified = check(export)
        rate = verified.size / (time.perf_counter() - started)
        Console().print(f"{verified.size:,} entries verified, {rate:,.0f} a second")
        return [
            compare(
                f"ledger of {verified.size:,} entries verified; beside hashes and signatures",
                lambda: check(export),
                lambda: _floor(export, signed),
                goal="≤ 2",
                command=COMMAND,
                rounds=3,
            )
        ]


def check(export: Path) -> Verified:
    with export.open("rb") as file:
        return verify(next(file), file, trust())


class Paying(NamedTuple):
    maker: Maker
    mandate: str


def write(export: Path, size: int) -> None:
    """An honest export of about this many entries."""
    ledger = Ledger.begun()
    paying = [_paying(ledger, number) for number in range(AUDITORS)]
    for number in range(len(ledger.lines), size - 3, 4):
        _audit(ledger, number, paying[number // 4 % AUDITORS])
    with export.open("wb") as file:
        file.write(header(len(ledger.lines), [head(ledger.lines, ledger.key)]) + b"\n")
        file.writelines(line + b"\n" for line in ledger.lines)


def _paying(ledger: Ledger, number: int) -> Paying:
    lab = ledger.auditor()
    renewal = {"kind": "rolling" if number % 2 else "fixed", "days": 30}
    mandate = ledger.mandate(
        lab, epsilon_limit="1000000", lifetime_limit="1000000000", renewal=renewal
    )
    return Paying(ledger.researcher(lab, f"researcher-{number}"), mandate)


def _audit(ledger: Ledger, number: int, paying: Paying) -> None:
    """Content, audience, charge and release, written faster than the service writes them."""
    maker, audit = paying.maker, identifier("audit", number)
    by = {"by": maker.id}
    content = {"content_id": identifier("content", number), "digest": digest(b"content"), **by}
    people = {"audience_id": identifier("audience", number), "source": "upload", **by}
    epsilon = EPSILONS[number % len(EPSILONS)]
    charge = identifier("charge", number)
    body, facts = charge_parts(charge, audit, paying.mandate, epsilon, "0.025")
    released = {"audit_id": audit, "digest": digest(b"r"), "model_digest": digest(b"model")}
    _write(ledger, "content", content, maker)
    _write(ledger, "audience", people | {"commitment": digest(b"people")}, maker)
    _write(ledger, "charge", facts, maker, body)
    _write(ledger, "release", released, maker)


def _write(
    ledger: Ledger,
    kind: str,
    facts: dict[str, Any],
    maker: Maker,
    body: dict[str, Any] | None = None,
) -> None:
    ledger.at += timedelta(seconds=1)
    entry = {
        "number": len(ledger.lines),
        "at": instant(ledger.at),
        "kind": kind,
        "auditor": maker.auditor,
        "facts": facts,
    }
    if body is not None:
        made = int(ledger.at.timestamp())
        entry["statement"] = _statement(maker, kind, body, f"key-{len(ledger.lines)}", made)
    ledger.lines.append(_encoder.encode(entry))


def _statement(
    maker: Maker, kind: str, body: dict[str, Any], key: str, made: int
) -> dict[str, Any]:
    whole = {"platform": ORIGIN, "action": kind, "by": maker.id, "key": key, "body": body}
    kid = maker.key.thumbprint()
    plain = {"alg": "Ed25519", "iat": made, "kid": kid, "typ": statements.TYPE}
    protected = _base64(_encoder.encode(plain))
    private = maker.key.private_key
    assert isinstance(private, Ed25519PrivateKey)
    signature = private.sign(f"{protected}.{_base64(_encoder.encode(whole))}".encode())
    detached = f"{protected}..{_base64(signature)}"
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


def _floor(export: Path, signed: list[tuple[bytes, bytes]]) -> None:
    for line in _lines(export):
        sha256(line).digest()
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        parts = [signed[start::threads] for start in range(threads)]
        list(pool.map(lambda part: [crypto_sign_open(*job) for job in part], parts))
