"""The ledger seen by clients: checked checkpoints, proofs, exports, and their verifier."""

from auditor_client.ledger.client import Ledger
from auditor_client.ledger.export_file import verify_file
from auditor_client.ledger.receipt_check import verify_receipt
from auditor_client.ledger.trust_file import make_trust, read_trust

__all__ = ["Ledger", "make_trust", "read_trust", "verify_file", "verify_receipt"]
