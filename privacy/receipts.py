"""Receipts: the platform's signed statement of one release.

A receipt is a compact JWS (Ed25519, RFC 7515 and RFC 9864) over canonical JSON (RFC 8785), so that
the same statement has the same bytes wherever it is made or checked.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import rfc8785
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OKPKey

ALGORITHM = "Ed25519"
TYPE = "platform-auditor-receipt+jws"


class ReceiptError(Exception):
    """A receipt that nobody vouches for."""


def canonical(statement: Mapping[str, Any]) -> bytes:
    """The one serialisation of a JSON object (RFC 8785)."""
    return rfc8785.dumps(dict(statement))


def digest(data: bytes) -> str:
    """The name of some bytes: `sha256:…`."""
    return f"sha256:{sha256(data).hexdigest()}"


def sign(statement: Mapping[str, Any], key: OKPKey) -> str:
    """A receipt of the statement, by a key that has a `kid`."""
    header = {"alg": ALGORITHM, "kid": key.kid, "typ": TYPE}
    return jws.serialize_compact(header, canonical(statement), key, algorithms=[ALGORITHM])


def verify(receipt: str, keys: KeySet) -> bytes:
    """The canonical bytes that were signed by one of the keys."""
    try:
        signed = jws.deserialize_compact(receipt, keys, algorithms=[ALGORITHM])
    except (JoseError, TypeError, ValueError) as error:
        raise ReceiptError(f"the receipt does not verify: {error}") from error
    if signed.protected.get("typ") != TYPE:
        raise ReceiptError("this is a signature, but not of a receipt")
    return signed.payload
