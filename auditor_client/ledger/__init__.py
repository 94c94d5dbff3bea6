"""The ledger from outside: heads that are checked, proofs, exports, and their verifier."""

from auditor_client.ledger.connected import Ledger
from auditor_client.ledger.files import verify_file
from auditor_client.ledger.receipt import verify_receipt
from auditor_client.ledger.trusting import make_trust, read_trust

__all__ = ["Ledger", "make_trust", "read_trust", "verify_file", "verify_receipt"]
