"""Honest exports of any length, written fast, for verification.

One entry in four is a signed charge: content, audience, charge and release per audit, of a hundred
auditors whose mandates renew. Every signature is real. Numbers, times, identifiers, prices and
links differ between entries as in a real ledger; constant texts are made once.
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import count, islice
from pathlib import Path
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from privacy.ledger import statements
from privacy.ledger.merkle import Frontier
from privacy.ledger.notes import Checkpoint, sign_checkpoint
from privacy.ledger.verify import Verified, verify
from privacy.receipts import canonical, digest
from tests.ledgers import (
    HISTOGRAM,
    ORIGIN,
    SEALED,
    Ledger,
    charge_of,
    ed25519,
    header,
    identifier,
    trust,
)

AUDITORS = 100
EPSILONS = ("0.05", "0.1", "0.125", "0.2", "0.5")
AT_ONCE = 4_096
CONTENT, PEOPLE, RELEASED, MODEL = map(digest, (b"content", b"people", b"r", b"model"))

_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True)
class Export:
    """File of entries, with headers for its first entries."""

    entries: Path
    headers: dict[int, bytes]

    def lines(self, size: int) -> Iterator[bytes]:
        with self.entries.open("rb") as file:
            yield from islice(file, size)

    def verified(self, size: int) -> Verified:
        with self.entries.open("rb") as file:
            return verify(self.headers[size], islice(file, size), trust())


def write(entries: Path, sizes: Sequence[int], session: int) -> Export:
    """Write the entries up to the last size, with checkpoints at all sizes, which increase."""
    tree, headers, lines = Frontier(), dict[int, bytes](), _lines(session)
    with entries.open("wb") as file:
        for size in sizes:
            while batch := list(islice(lines, min(AT_ONCE, size - tree.size))):
                tree.extend(batch)
                file.write(b"\n".join(batch) + b"\n")
            note = sign_checkpoint(
                Checkpoint(ORIGIN, size, tree.root()), [(ORIGIN, ed25519("ledger"))]
            )
            headers[size] = header(size, [note])
    return Export(entries, headers)


def _lines(session: int) -> Iterator[bytes]:
    ledger = Ledger.begun()
    paying = [_paying(ledger, number, session) for number in range(AUDITORS)]
    yield from ledger.lines
    at = ledger.at
    for number in count(len(ledger.lines), 4):
        yield from _audit(number, at, paying[number // 4 % AUDITORS])
        at += timedelta(seconds=4)


@dataclass
class Paying:
    """Researcher with the paying mandate and the last signature of this session."""

    by: str
    auditor: str | None
    key: Ed25519PrivateKey
    kid: str
    mandate: str
    session: int
    signed: int = 0
    link: str | None = None

    def after(self) -> dict[str, str]:
        self.signed += 1
        return {"after": self.link} if self.link and self.signed % self.session else {}


def _paying(ledger: Ledger, number: int, session: int) -> Paying:
    lab = ledger.auditor()
    renewal = {"kind": "rolling" if number % 2 else "fixed", "days": 30}
    mandate = ledger.mandate(
        lab, epsilon_limit="1000000", lifetime_limit="1000000000", renewal=renewal
    )
    maker = ledger.researcher(lab, f"researcher-{number}")
    private = maker.key.private_key
    assert isinstance(private, Ed25519PrivateKey)
    return Paying(maker.id, lab, private, maker.key.thumbprint(), mandate, session)


def _audit(number: int, at: datetime, paying: Paying) -> Iterator[bytes]:
    """Yield content, audience, charge and release."""
    audience, audit = identifier("audience", number), identifier("audit", number)
    content = {"content_id": identifier("content", number), "digest": CONTENT, "by": paying.by}
    people: dict[str, Any] = {"audience_id": audience, "source": "upload", "by": paying.by}
    people |= {"commitment": PEOPLE, "sizes": "noisy", **SEALED}
    request, price = _parts(EPSILONS[number % len(EPSILONS)])
    request = request | {"audience_id": audience}
    asked, whole = statements.condense_request(request), canonical(request)
    paid = {"charge_id": identifier("charge", number), "audit_id": audit}
    released = {"audit_id": audit, "digest": RELEASED, "model_digest": MODEL}
    moments = [at + timedelta(seconds=second) for second in (1, 2, 3, 4)]
    stated = _statement(paying, asked, f"key-{number + 2}", int(moments[2].timestamp()))
    charge = price | paid | {"mandate_id": paying.mandate, "request": whole.decode()}
    yield _entry(number, moments[0], "content", paying.auditor, content)
    yield _entry(number + 1, moments[1], "audience", paying.auditor, people)
    yield _entry(number + 2, moments[2], "charge", paying.auditor, charge, stated)
    yield _entry(number + 3, moments[3], "release", paying.auditor, released)


@lru_cache
def _parts(epsilon: str) -> tuple[dict[str, Any], dict[str, Any]]:
    request = HISTOGRAM | {"epsilon": epsilon}
    _, facts = charge_of(request, "", "", "")
    return request, facts


def _entry(
    number: int,
    at: datetime,
    kind: str,
    auditor: str | None,
    facts: dict[str, Any],
    statement: dict[str, Any] | None = None,
) -> bytes:
    # Times have the form of `entries.instant`, because their microseconds are not 0.
    entry = {"at": at, "auditor": auditor, "facts": facts, "kind": kind, "number": number}
    return _encode(entry | {"statement": statement} if statement else entry)


def _statement(paying: Paying, body: dict[str, Any], key: str, made: int) -> dict[str, Any]:
    """Return the same statement as `statements.sign`, faster."""
    whole = {"platform": ORIGIN, "action": "charge", "by": paying.by, "key": key, "body": body}
    plain = {"alg": "Ed25519", "iat": made, "kid": paying.kid, "typ": statements.TYPE}
    protected = base64(_encode(plain | paying.after()))
    words = _encode(whole)
    signature = paying.key.sign(f"{protected}.{base64(words)}".encode())
    detached = f"{protected}..{base64(signature)}"
    paying.link = statements.digest_statement(detached, words)
    return {"by": paying.by, "key": key, "body": body, "signature": detached}


def base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
