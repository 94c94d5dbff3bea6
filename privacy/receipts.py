"""Receipts: the platform's signed statements of single releases.

A receipt is a compact JWS (Ed25519, RFC 7515 and RFC 9864) over canonical JSON (RFC 8785). So the
same statement always has the same bytes.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from joserfc import jws
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jwk import KeySet, OKPKey

from privacy.canonical import dumps

ALGORITHM = "Ed25519"
TYPE = "platform-auditor-receipt+jws"


class InvalidReceiptError(Exception):
    """A receipt without a valid signature; `case` is a stable word for the reason."""

    def __init__(self, message: str, *, case: str | None = None) -> None:
        super().__init__(message)
        self.case = case


def canonical(statement: Mapping[str, Any]) -> bytes:
    """Return the canonical serialisation of a JSON object (RFC 8785)."""
    return dumps(dict(statement))


def digest(data: bytes) -> str:
    """Return the digest of some bytes: `sha256:…`."""
    return f"sha256:{sha256(data).hexdigest()}"


def sign(statement: Mapping[str, Any], key: OKPKey) -> str:
    """Return a receipt of the statement, by a key that has a `kid`."""
    return _sign(canonical(statement), key)


def add_receipt(statement: Mapping[str, Any], key: OKPKey) -> bytes:
    """Return the canonical statement with its receipt as one more member, without serialising it
    twice.
    """
    members = {name: dumps(value) for name, value in statement.items()}
    receipt = dumps(_sign(_joined(members), key))
    return _joined(members | {"receipt": receipt})


def _sign(data: bytes, key: OKPKey) -> str:
    header = {"alg": ALGORITHM, "kid": key.kid, "typ": TYPE}
    return jws.serialize_compact(header, data, key, algorithms=[ALGORITHM])


def _joined(members: Mapping[str, bytes]) -> bytes:
    """Return a canonical object of canonical members, sorted by UTF-16 (RFC 8785)."""
    names = sorted(members, key=lambda name: name.encode("utf-16-be"))
    return b"{%b}" % b",".join(dumps(name) + b":" + members[name] for name in names)


def verify(receipt: str, keys: KeySet) -> bytes:
    """Return the canonical bytes that were signed by one of the keys."""
    try:
        signed = jws.deserialize_compact(receipt, keys, algorithms=[ALGORITHM])
    except BadSignatureError as error:
        raise InvalidReceiptError(
            "the signature does not match the receipt", case="wrong-signature"
        ) from error
    except (JoseError, TypeError, ValueError) as error:
        raise InvalidReceiptError(
            f"the receipt cannot be read: {str(error).rstrip(': ')}", case="wrong-signature"
        ) from error
    if signed.protected.get("typ") != TYPE:
        raise InvalidReceiptError(
            "this is a signature, but not for a receipt", case="not-a-receipt"
        )
    return signed.payload
