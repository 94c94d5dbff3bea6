"""Whose key signed a statement: detached signatures, many at a time.

libsodium is about twice as fast as OpenSSL, and lets go of the interpreter, so that all cores help.
It is stricter about odd keys than the service, which goes by joserfc: whatever libsodium does not
accept, and whatever is not Ed25519, joserfc decides.

[RFC7515] JWS, §5.1 (the signing input) and Appendix F (detached). [RFC7638] thumbprint.
"""

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.util import base64_to_int
from nacl.bindings import crypto_sign_open
from nacl.exceptions import CryptoError

from privacy.errors import EvidenceError, LedgerError, StatementError
from privacy.ledger import statements

# (kty, crv) → the algorithms such a key may sign with
ALGORITHMS: dict[tuple[str, str | None], tuple[str, ...]] = {
    ("OKP", "Ed25519"): ("Ed25519",),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("RSA", None): ("RS256", "PS256"),
}
PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
RSA_BITS = 2048
AT_A_TIME = 4_096

_MEMBERS = {"OKP": ("crv", "x"), "EC": ("crv", "x", "y"), "RSA": ("n", "e")}


@dataclass(frozen=True)
class Signer:
    """A public key that may sign statements."""

    key: Key
    thumbprint: str
    algorithms: tuple[str, ...]
    ed25519: bytes | None

    @classmethod
    def of(cls, jwk: Mapping[str, Any]) -> Self:
        """The key of a JWK, as its numbers are and not as they are spelt."""
        if PRIVATE_MEMBERS & jwk.keys():
            raise EvidenceError("a key has private members: make a new one, and show its public")
        try:
            key = _imported(jwk)
        except (JoseError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise EvidenceError("this is not a public key that can sign statements") from error
        public = key.public_key
        raw = public.public_bytes_raw() if isinstance(public, Ed25519PublicKey) else None
        return cls(key, key.thumbprint(), ALGORITHMS[jwk["kty"], jwk.get("crv")], raw)


class Claimed(NamedTuple):
    """A signature to be checked: of which entry, by whom, of what."""

    number: int
    by: str
    signer: Signer
    signature: str
    stated: bytes


class Signatures:
    """Signatures of the entries so far, checked together once there are enough of them."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._claimed: list[Claimed] = []

    def add(self, claimed: Claimed) -> None:
        self._claimed.append(claimed)
        if len(self._claimed) >= AT_A_TIME:
            self.settle()

    def settle(self) -> None:
        """Check what is waiting; raise for the first entry that is not signed as it claims."""
        waiting, self._claimed = self._claimed, []
        share = -(-len(waiting) // (os.cpu_count() or 1)) or 1
        parts = [waiting[start : start + share] for start in range(0, len(waiting), share)]
        for wrong in self._pool.map(_first_wrong, parts):
            if wrong is not None:
                reason = f"the statement is not signed with a key that {wrong.by} had at this entry"
                raise LedgerError(wrong.number, reason)


def kid_of(signature: str) -> str | None:
    """The thumbprint that the signature names, to be believed once it verifies."""
    return _header(signature.partition("..")[0]).get("kid")


def _first_wrong(claimed: list[Claimed]) -> Claimed | None:
    return next((each for each in claimed if not _is_signed(each)), None)


def _is_signed(claimed: Claimed) -> bool:
    if _is_signed_plainly(claimed):
        return True
    algorithms = list(claimed.signer.algorithms)
    try:
        statements.verify(claimed.signature, claimed.stated, claimed.signer.key, algorithms)
    except StatementError:
        return False
    return True


def _is_signed_plainly(claimed: Claimed) -> bool:
    """Whether it is an Ed25519 signature with the header that statements have."""
    header, _, encoded = claimed.signature.partition("..")
    public = claimed.signer.ed25519
    if public is None or not _is_plain(header):
        return False
    try:
        signature = urlsafe_b64decode(encoded + "==")
        # ASCII(BASE64URL(header) || '.' || BASE64URL(payload))   [RFC7515, §5.1]
        signed = header.encode() + b"." + urlsafe_b64encode(claimed.stated).rstrip(b"=")
        crypto_sign_open(signature + signed, public)
    except (CryptoError, ValueError):
        return False
    return len(signature) == 64


@lru_cache(maxsize=4_096)
def _is_plain(encoded: str) -> bool:
    header = _header(encoded)
    if header.keys() != {"alg", "iat", "kid", "typ"} or not isinstance(header["kid"], str):
        return False
    return (header["alg"], header["typ"]) == ("Ed25519", statements.TYPE)


def _header(encoded: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(urlsafe_b64decode(encoded + "=="), type=dict[str, Any])
    except (ValueError, RecursionError):
        return {}


def _imported(jwk: Mapping[str, Any]) -> Key:
    """The same key, imported from its numbers: one key has one thumbprint."""
    kind = jwk["kty"]
    if (kind, jwk.get("crv")) not in ALGORITHMS:
        raise ValueError(kind)
    members = {"kty": kind, **{name: jwk[name] for name in _MEMBERS[kind]}}
    if kind == "OKP":
        return OKPKey.import_key(OKPKey.import_key(members).public_key)
    if kind == "EC":
        return ECKey.import_key(ECKey.import_key(members).public_key)
    # Before the import: joserfc only warns of short keys.
    if base64_to_int(members["n"]).bit_length() < RSA_BITS:
        raise ValueError("short")
    return RSAKey.import_key(RSAKey.import_key(members).public_key)
