"""Two-party runs in the books: what was answered, what a regulator opened, what was delivered.

The platform cannot see whether an auditor's weights are as declared, so a mandate says which share
of runs a regulator opens before they are delivered. Which ones is drawn by the first signed head of
the ledger that covers the answer: by then the auditor is bound to every message, whose hash the
answer states, and nobody outside of the platform could know that head's root before. The platform
could: it orders the entries. To use this it would have to want its own people less protected; and
whoever holds the head can draw again.
"""

from fractions import Fraction
from hashlib import sha256

from privacy.errors import EvidenceError
from privacy.ledger.books import Mandate
from privacy.ledger.shapes import AnswerFacts, ChargeBody, ChargeFacts, OpeningBody, ReleaseFacts

KIND = "two-party"
ASSUMES = ["bounded-weights"]
_DRAW = b"platform-auditor/two-party/v1/draw"


def drawn(share: Fraction, root: bytes, audit_id: str) -> bool:
    """Whether the run of this audit is opened, by the root of the head that decides."""
    number = int.from_bytes(sha256(_DRAW + root + audit_id.encode()).digest(), "big")
    return number < share * 2**256


class Runs:
    """The two-party audits among the charges so far."""

    def __init__(self) -> None:
        self._charged: dict[str, Mandate] = {}
        self._answers: dict[str, str] = {}
        self._honest: set[str] = set()

    def charge(self, body: ChargeBody, facts: ChargeFacts, mandate: Mandate) -> None:
        if facts.assumes != (ASSUMES if body.kind == KIND else []):
            raise EvidenceError("it does not state what its promise rests on")
        if body.kind == KIND:
            self._charged[facts.audit_id] = mandate

    def answer(self, facts: AnswerFacts) -> None:
        """A run was answered: once for each charge."""
        if facts.audit_id not in self._charged:
            raise EvidenceError(f"{facts.audit_id} is no two-party audit that was charged")
        if facts.audit_id in self._answers:
            raise EvidenceError(f"{facts.audit_id} was answered before")
        self._answers[facts.audit_id] = facts.transcript

    def open(self, body: OpeningBody) -> None:
        if self._answers.get(body.audit_id) != body.transcript:
            raise EvidenceError("what was opened is not what was answered")
        if not body.findings:
            self._honest.add(body.audit_id)

    def release(self, facts: ReleaseFacts) -> None:
        """Refuse a delivery of what was not answered, or had to be opened first and was not."""
        mandate = self._charged.get(facts.audit_id)
        if mandate is None:
            return
        if self._answers.get(facts.audit_id) != facts.transcript:
            raise EvidenceError("what was delivered is not what was answered")
        if facts.audit_id in self._honest:
            return
        if mandate.opened == 1 or (mandate.opened > 0 and self._drawn(mandate, facts)):
            raise EvidenceError(f"{facts.audit_id} was delivered, and not opened before")

    def _drawn(self, mandate: Mandate, facts: ReleaseFacts) -> bool:
        if facts.draw is None:
            raise EvidenceError(f"{facts.audit_id} does not say by which head it was drawn")
        return drawn(mandate.opened, bytes.fromhex(facts.draw.root), facts.audit_id)
