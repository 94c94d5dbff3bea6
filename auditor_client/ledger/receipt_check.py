"""Check of a receipt against the keys that a verifier trusts and the ledger that must name it."""

import base64
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from auditor_client.errors import ReceiptError
from auditor_client.local.saved_receipt import (
    AnyRelease,
    SavedReceipt,
    release_from_receipt,
    signed_statement,
)
from openapi.resources import BothRelations, Currency, InclusionProof, Price
from privacy import receipts
from privacy.errors import EvidenceError
from privacy.ledger import merkle, notes
from privacy.ledger.parts import check_numbers
from privacy.ledger.trust import Trust
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, INFINITE

_STATED = {"name", "mechanism", "bounds", "sensitivity", "scale", "parameter"}


def verify_receipt(saved: SavedReceipt, trust: Trust) -> AnyRelease:
    """Return the release, if a trusted key signed it and a trusted checkpoint covers it."""
    keys = {"keys": [dict(jwk) for jwk in trust.receipts]}
    release = release_from_receipt(saved.receipt, keys)
    saved.check_contents(release)
    _check_price(release.price)
    if saved.proof is None:
        raise ReceiptError(
            "The receipt is signed, but the file has no proof that the release is in the "
            "ledger. Fetch the proof: auditor receipt prove FILE",
            case="no-proof",
        )
    _check_entry(saved.receipt, keys, saved.proof)
    check_inclusion(saved.proof, trust, "the receipt")
    return release


def _check_price(price: Price) -> None:
    """Raise an error unless scales and price follow from the statements of each part (format 3)."""
    if any(part.bounds is None for part in price.parts):
        return  # a receipt of an earlier version, whose parts state less
    parts = [part.model_dump(mode="json", include=_STATED) for part in price.parts]
    try:
        worth = check_numbers(parts).price
    except EvidenceError as error:
        raise ReceiptError(
            f"The receipt is signed, but {error}. Tell the regulator.", case=error.case
        ) from error
    paid: dict[Currency, BothRelations | None] = {"epsilon": price.epsilon, "rho": price.rho}
    for currency, both in paid.items():
        added = INFINITE if both is None else Fraction(both.add_remove)
        changed = INFINITE if both is None else Fraction(both.change_one)
        if (worth.amount(currency, ADD_REMOVE), worth.amount(currency, CHANGE_ONE)) != (
            added,
            changed,
        ):
            raise ReceiptError(
                "The receipt is signed, but its price is not the sum of its parts. Keep "
                "the receipt and tell the regulator.",
                case="price-of-the-parts",
            )


def _check_entry(receipt: str, keys: Mapping[str, Any], proof: InclusionProof) -> None:
    """Raise an error unless the entry commits to exactly these bytes."""
    statement = json.loads(signed_statement(receipt, keys))
    released = receipts.digest(receipts.canonical(statement | {"receipt": receipt}))
    entry = _entry(proof)
    if entry["facts"].get("digest") != released:
        raise ReceiptError(
            "The ledger's entry commits to other bytes than this receipt's release.",
            case="another-release-than-entered",
        )
    if entry["facts"].get("audit_id") != statement["audit_id"]:
        raise ReceiptError("The ledger's entry names another audit.")


def _entry(proof: InclusionProof) -> dict[str, Any]:
    try:
        entry = json.loads(proof.entry)
        if (entry["kind"], entry["number"]) == ("release", proof.number):
            entry["facts"].keys()
            return dict(entry)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ReceiptError("The proof is for an entry that is not a release.", case="not-of-a-release")


def check_inclusion(proof: InclusionProof, trust: Trust, what: str) -> None:
    """Raise an error unless a trusted checkpoint covers the entry."""
    path = [base64.b64decode(each) for each in proof.path]
    leaf = merkle.leaf_hash(proof.entry.encode())
    try:
        head = notes.open_checkpoint(proof.checkpoint, trust.ledger).checkpoint
        merkle.verify_inclusion(leaf, proof.number, head.size, path, head.root)
    except EvidenceError as error:
        raise ReceiptError(
            f"The ledger does not hold {what}: {error}. Keep the file and tell the regulator.",
            case=error.case,
        ) from error
