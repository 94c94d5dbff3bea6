"""A receipt, held against the keys that a verifier trusts, and the ledger that must name it."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from auditor_client.errors import ReceiptError
from auditor_client.receipts import (
    AnyRelease,
    SavedReceipt,
    release_from_receipt,
    signed_statement,
)
from openapi.models import InclusionProof
from privacy import receipts
from privacy.errors import EvidenceError
from privacy.ledger import merkle, notes
from privacy.ledger.trust import Trust


def verify_receipt(saved: SavedReceipt, trust: Trust) -> AnyRelease:
    """The release, if a trusted key signed it and a trusted head of the ledger holds it."""
    keys = {"keys": [dict(jwk) for jwk in trust.receipts]}
    release = release_from_receipt(saved.receipt, keys)
    saved.check_contents(release)
    if saved.proof is None:
        raise ReceiptError(
            "The receipt is signed, but the file has no proof that it is in the ledger. Fetch it: "
            "auditor receipt prove FILE"
        )
    _check_entry(saved.receipt, keys, saved.proof)
    check_inclusion(saved.proof, trust, "the receipt")
    return release


def _check_entry(receipt: str, keys: Mapping[str, Any], proof: InclusionProof) -> None:
    """The entry must be of these very bytes."""
    statement = json.loads(signed_statement(receipt, keys))
    released = receipts.digest(receipts.canonical(statement | {"receipt": receipt}))
    entry = _entry(proof)
    if entry["facts"].get("digest") != released:
        raise ReceiptError("The ledger's entry names other bytes than this receipt's release.")
    if entry["facts"].get("audit_id") != statement["audit_id"]:
        raise ReceiptError("The ledger's entry is of another audit.")


def _entry(proof: InclusionProof) -> dict[str, Any]:
    try:
        entry = json.loads(proof.entry)
        if (entry["kind"], entry["number"]) == ("release", proof.number):
            entry["facts"].keys()
            return dict(entry)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ReceiptError("The proof is not of a release.")


def check_inclusion(proof: InclusionProof, trust: Trust, what: str) -> None:
    """Raise unless a trusted head of the ledger holds the entry."""
    path = [base64.b64decode(each) for each in proof.path]
    leaf = merkle.leaf_hash(proof.entry.encode())
    try:
        head = notes.open_checkpoint(proof.checkpoint, trust.ledger).checkpoint
        merkle.verify_inclusion(leaf, proof.number, head.size, path, head.root)
    except EvidenceError as error:
        raise ReceiptError(
            f"The ledger does not hold {what}: {error}. Keep the file and tell the regulator."
        ) from error
