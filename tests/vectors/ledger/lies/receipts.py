"""Forgeries of a receipt."""

import json
from base64 import urlsafe_b64encode
from typing import Any

from privacy.receipts import canonical, sign
from tests.ledgers import (
    ed25519,
    head,
)
from tests.vectors.ledger.honest import RECEIPTS, Honest, named, statement
from tests.vectors.ledger.lies.telling import (
    Bad,
    Lie,
)


def _saved(document: dict[str, Any], case: str) -> Bad:
    return Bad(json.dumps(document, ensure_ascii=False, indent=1).encode().split(b"\n"), None, case)


def _proof(honest: Honest, **changes: Any) -> dict[str, Any]:
    return honest.receipt | {"proof": honest.receipt["proof"] | changes}


def other_numbers_are_under_the_signature(honest: Honest) -> Bad:
    protected, _, signature = honest.receipt["receipt"].split(".")
    payload = urlsafe_b64encode(canonical(statement() | {"rules": []})).decode().rstrip("=")
    return _saved(
        honest.receipt | {"receipt": f"{protected}.{payload}.{signature}"}, "wrong-signature"
    )


def the_receipt_states_a_smaller_scale(honest: Honest) -> Bad:
    """The platform's own key signed it: the numbers contradict each other."""
    stated = statement()
    stated["price"]["parts"][0]["scale"] = "9"
    other = sign(stated, RECEIPTS)
    return _saved(honest.receipt | {"receipt": other}, "scale-of-a-part")


def the_receipt_states_a_lower_price(honest: Honest) -> Bad:
    stated = statement()
    stated["price"]["epsilon"] = {"add_remove": "0.1", "change_one": "0.2"}
    other = sign(stated, RECEIPTS)
    return _saved(honest.receipt | {"receipt": other}, "price-of-the-parts")


def another_key_signed_the_receipt(honest: Honest) -> Bad:
    forged = sign(statement(), named(ed25519("forger")))
    return _saved(honest.receipt | {"receipt": forged}, "wrong-signature")


def the_platform_signed_other_numbers_later(honest: Honest) -> Bad:
    """Its key is good; the ledger names the bytes that were released."""
    other = sign(statement() | {"rules": []}, RECEIPTS)
    return _saved(honest.receipt | {"receipt": other}, "another-release-than-entered")


def the_receipt_has_no_proof(honest: Honest) -> Bad:
    return _saved(honest.receipt | {"proof": None}, "no-proof")


def the_proof_is_of_another_entry(honest: Honest) -> Bad:
    number = honest.places["charge"]
    entry = honest.ledger.lines[number].decode()
    return _saved(_proof(honest, entry=entry, number=number), "not-of-a-release")


def the_proof_is_cut(honest: Honest) -> Bad:
    path = honest.receipt["proof"]["path"][:-1]
    return _saved(_proof(honest, path=path), "inclusion-fails")


def the_proof_is_under_a_head_of_another_key(honest: Honest) -> Bad:
    note = head(honest.ledger.lines[:24], ed25519("stranger"))
    return _saved(_proof(honest, checkpoint=note), "untrusted")


RECEIPT: tuple[Lie, ...] = (
    other_numbers_are_under_the_signature,
    the_receipt_states_a_smaller_scale,
    the_receipt_states_a_lower_price,
    another_key_signed_the_receipt,
    the_platform_signed_other_numbers_later,
    the_receipt_has_no_proof,
    the_proof_is_of_another_entry,
    the_proof_is_cut,
    the_proof_is_under_a_head_of_another_key,
)
