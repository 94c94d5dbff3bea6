"""Verification of detached signatures, many at once.

libsodium is about twice as fast as OpenSSL, and releases the interpreter lock, so that all cores
help. It is stricter about unusual keys than joserfc, which the service uses. So joserfc decides on
signatures that libsodium does not accept, and on those that are not Ed25519.

[RFC7638] thumbprint.
"""

import os
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.util import base64_to_int
from nacl.bindings import crypto_sign_open
from nacl.exceptions import CryptoError

from privacy.errors import EvidenceError, InvalidLedgerError, StatementError
from privacy.ledger import statements
from privacy.ledger.statements import digest_statement, parse_header, signing_input

# (kty, crv) → the algorithms such a key may sign with
ALGORITHMS: dict[tuple[str, str | None], tuple[str, ...]] = {
    ("OKP", "Ed25519"): ("Ed25519",),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("RSA", None): ("RS256", "PS256"),
}
PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
RSA_BITS = 2048
AT_A_TIME = 16_384

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
        """Return the key of a JWK by the values of its numbers, not by their spelling."""
        if PRIVATE_MEMBERS & jwk.keys():
            raise EvidenceError(
                "a key has private members, so it is exposed: make a new key, and give "
                "only its public",
                case="private-key",
            )
        try:
            key = _imported(jwk)
        except (JoseError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise EvidenceError(
                "this is not a public key that can sign statements", case="not-a-public-key"
            ) from error
        public = key.public_key
        raw = public.public_bytes_raw() if isinstance(public, Ed25519PublicKey) else None
        return cls(key, key.thumbprint(), ALGORITHMS[jwk["kty"], jwk.get("crv")], raw)


class SignatureClaim(msgspec.Struct, frozen=True, gc=False):
    """Signature to check: its entry, its signer and its payload."""

    number: int
    by: str
    signer: Signer
    signature: str
    stated: bytes


class _Chain:
    """Statements by one key, each of which names the previous one: the last signature covers
    all.
    """

    def __init__(self) -> None:
        self.claimed: list[SignatureClaim] = []
        self.link = ""


class Signatures:
    """Signatures of the entries so far, checked in batches.

    A maker's signature covers the statement that it names as signed just before, and so on
    backwards. So the last signature of such a chain proves that the maker made all of them. If it
    is wrong, each is checked.
    """

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._open: dict[str, _Chain] = {}
        self._ended: list[list[SignatureClaim]] = []
        self._waiting = 0

    def add(self, claimed: SignatureClaim, after: str | None) -> None:
        """Add a signature; `after` is the statement that its header names as signed just before."""
        maker = claimed.signer.thumbprint
        chain = self._open.get(maker)
        if chain is None or after != chain.link:
            if chain is not None:
                self._ended.append(chain.claimed)
            chain = self._open[maker] = _Chain()
        chain.claimed.append(claimed)
        chain.link = digest_statement(claimed.signature, claimed.stated)
        self._waiting += 1
        if self._waiting >= AT_A_TIME:
            self.settle()

    def settle(self) -> None:
        """Check the waiting signatures; raise an error for the first entry with a wrong one."""
        chains = [chain for chain in self._taken() if chain]
        share = -(-len(chains) // (os.cpu_count() or 1)) or 1
        parts = [chains[start : start + share] for start in range(0, len(chains), share)]
        wrong = [claimed for part in self._pool.map(_wrong, parts) for claimed in part]
        if wrong:
            first = min(wrong, key=lambda claimed: claimed.number)
            reason = f"the statement is not signed with a key that {first.by} had at this entry"
            raise InvalidLedgerError(first.number, reason, case="wrong-signature")

    def _taken(self) -> list[list[SignatureClaim]]:
        taken = [*self._ended, *(chain.claimed for chain in self._open.values())]
        self._ended, self._waiting = [], 0
        for chain in self._open.values():
            chain.claimed = []
        return taken


def _wrong(chains: list[list[SignatureClaim]]) -> list[SignatureClaim]:
    """Return the first wrong signature of every chain whose last signature is wrong."""
    broken = (chain for chain in chains if not _is_signed(chain[-1]))
    return [next(each for each in chain if not _is_signed(each)) for chain in broken]


def _is_signed(claimed: SignatureClaim) -> bool:
    if _is_signed_plainly(claimed):
        return True
    algorithms = list(claimed.signer.algorithms)
    try:
        statements.verify(claimed.signature, claimed.stated, claimed.signer.key, algorithms)
    except StatementError:
        return False
    return True


def _is_signed_plainly(claimed: SignatureClaim) -> bool:
    """Tell whether it is an Ed25519 signature with the header of statements."""
    head, public = parse_header(claimed.signature), claimed.signer.ed25519
    if public is None or (head.alg, head.typ) != ("Ed25519", statements.TYPE):
        return False
    try:
        signature = urlsafe_b64decode(claimed.signature.partition("..")[2] + "==")
        crypto_sign_open(signature + signing_input(claimed.signature, claimed.stated), public)
    except (CryptoError, ValueError):
        return False
    return len(signature) == 64


def _imported(jwk: Mapping[str, Any]) -> Key:
    """Return the same key, imported from its numbers: one key has one thumbprint."""
    kind = jwk["kty"]
    if (kind, jwk.get("crv")) not in ALGORITHMS:
        raise ValueError(kind)
    members = {"kty": kind, **{name: jwk[name] for name in _MEMBERS[kind]}}
    if kind == "OKP":
        return OKPKey.import_key(OKPKey.import_key(members).public_key)
    if kind == "EC":
        return ECKey.import_key(ECKey.import_key(members).public_key)
    # Check before the import, because joserfc only warns about short keys.
    if base64_to_int(members["n"]).bit_length() < RSA_BITS:
        raise ValueError("short")
    return RSAKey.import_key(RSAKey.import_key(members).public_key)
