"""Forgeries of an export and of a receipt that a verifier must find."""

from tests.vectors.ledger.lies.booked import BOOKED
from tests.vectors.ledger.lies.files import FILES
from tests.vectors.ledger.lies.parts import PARTS
from tests.vectors.ledger.lies.receipts import RECEIPT
from tests.vectors.ledger.lies.shown import SHOWN, own
from tests.vectors.ledger.lies.stated import STATED
from tests.vectors.ledger.lies.telling import Bad, Lie, file_of

LIES: dict[str, tuple[Lie, ...]] = {
    "export.jsonl": FILES + STATED + BOOKED + PARTS,
    "partial.jsonl": SHOWN,
    "receipt.json": RECEIPT,
}

__all__ = ["LIES", "Bad", "Lie", "file_of", "own"]
