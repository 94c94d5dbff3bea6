"""Proofs of possession: the person who presents a public key proves that they hold the private one.

A proof is a detached signature by that key, over bytes like those of a statement: for one platform,
one purpose and one key. A researcher who changes keys proves the new one. An individual named in an
application proves theirs, and so agrees to exactly that application.
"""

from collections.abc import Mapping
from typing import Any

from privacy.errors import EvidenceError, StatementError
from privacy.ledger import statements
from privacy.ledger.signatures import Signer
from privacy.receipts import canonical, digest

KEY_CHANGE = "researcher-key-proof"
APPLICATION = "application-proof"


def key_change_bytes(origin: str, researcher_id: str, jwk: Mapping[str, Any]) -> bytes:
    """Return the bytes that the new key of a researcher signs."""
    key = Signer.of(jwk).thumbprint
    return statements.payload(origin, KEY_CHANGE, researcher_id, key, {"jwk": dict(jwk)})


def application_bytes(origin: str, stated: Mapping[str, Any], jwk: Mapping[str, Any]) -> bytes:
    """Return the bytes that an individual's key signs: the application with all proofs null."""
    key = Signer.of(jwk).thumbprint
    bare = [{**individual, "proof": None} for individual in stated["individuals"]]
    body = {"application": digest(canonical({**stated, "individuals": bare}))}
    return statements.payload(origin, APPLICATION, f"applicant:{key}", key, body)


def check(proof: str | None, proved: bytes, jwk: Mapping[str, Any]) -> None:
    """Raise an error unless the key signed exactly these bytes."""
    signer = Signer.of(jwk)
    try:
        statements.verify(proof or "", proved, signer.key, list(signer.algorithms))
    except StatementError as error:
        raise EvidenceError(
            f"nothing proves possession of the key {signer.thumbprint}: {error}",
            case="key-not-proven",
        ) from error
