"""Two-party runs in the ledger: answers, openings by regulators, and deliveries.

The platform cannot see whether an auditor's weights are as declared. So a mandate states the share
of runs that a regulator opens before their delivery. The checkpoint that ends with the answer
determines which runs these are. By then, the auditor is bound to every message, whose hash the
answer states. Nobody outside the platform could know that checkpoint's root before. The platform
could, because it chooses the time of its answer; but using this would only reduce the protection of
its own people. Exactly one checkpoint decides: a verifier finds it among the signed ones and draws
again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256

from privacy.errors import EvidenceError
from privacy.ledger.balances import MandateBalance
from privacy.ledger.entry_schemas import (
    AnswerFacts,
    ChargeFacts,
    OpeningBody,
    ReleaseFacts,
)

_DRAW = b"platform-auditor/two-party/v1/draw"

# Test whether there is a checkpoint of this size with this root.
IsSigned = Callable[[int, bytes], bool]


def is_run_opened(share: Fraction, root: bytes, audit_id: str) -> bool:
    """Tell whether the run of this audit is opened, by the root of the deciding checkpoint."""
    number = int.from_bytes(sha256(_DRAW + root + audit_id.encode()).digest(), "big")
    return number < share * 2**256


@dataclass(frozen=True)
class RunAnswer:
    """Entry of an answer, and its stated hash of all messages."""

    number: int
    transcript: str


class ChargedRuns:
    """Two-party audits among the charges so far."""

    def __init__(self, is_signed: IsSigned) -> None:
        self._is_signed = is_signed
        self._charged: dict[str, MandateBalance] = {}
        self._answers: dict[str, RunAnswer] = {}
        self._honest: set[str] = set()
        self._accused: set[str] = set()

    def charge(self, facts: ChargeFacts, mandate: MandateBalance) -> None:
        """Record the charge of a run: an audit of a kind that hides its weights."""
        self._charged[facts.audit_id] = mandate

    def answer(self, facts: AnswerFacts, number: int) -> None:
        """Record the answer of a run, in the entry of this number: once for each charge."""
        if facts.audit_id not in self._charged:
            raise EvidenceError(
                f"{facts.audit_id} is not a charged two-party audit",
                case="no-two-party-charge",
            )
        self.refuse_answered(facts.audit_id)
        self._answers[facts.audit_id] = RunAnswer(number, facts.transcript)

    def refuse_answered(self, audit_id: str) -> None:
        """Raise if a run of this audit was answered: people were read for it."""
        if audit_id in self._answers:
            raise EvidenceError(f"{audit_id} was answered before", case="answered-before")

    def open(self, body: OpeningBody) -> None:
        answer = self._answers.get(body.audit_id)
        if answer is None or answer.transcript != body.transcript:
            raise EvidenceError(
                "the opened run differs from the answered one", case="another-opening-than-answered"
            )
        (self._accused if body.findings else self._honest).add(body.audit_id)

    def release(self, facts: ReleaseFacts) -> None:
        """Refuse the delivery of a run that was not answered, or not opened as required."""
        mandate = self._charged.get(facts.audit_id)
        if mandate is None:
            return
        answer = self._answers.get(facts.audit_id)
        if answer is None or answer.transcript != facts.transcript:
            raise EvidenceError(
                "the delivered run differs from the answered one",
                case="another-delivery-than-answered",
            )
        if facts.audit_id in self._accused:
            raise EvidenceError(
                f"{facts.audit_id} was delivered although its opening had findings",
                case="delivered-despite-findings",
            )
        opened = mandate.opened == 1
        if 0 < mandate.opened < 1:
            opened = is_run_opened(mandate.opened, self._root(facts, answer), facts.audit_id)
        if opened and facts.audit_id not in self._honest:
            raise EvidenceError(
                f"{facts.audit_id} was delivered without the required opening", case="not-opened"
            )

    def _root(self, facts: ReleaseFacts, answer: RunAnswer) -> bytes:
        """Return the deciding root, if it is that of the checkpoint that ends with the answer."""
        draw, first = facts.draw, answer.number + 1
        if draw is None:
            raise EvidenceError(
                f"{facts.audit_id} does not state the checkpoint by which it was drawn",
                case="no-drawing-head",
            )
        if draw.size != first:
            raise EvidenceError(
                f"{facts.audit_id} was drawn by a checkpoint of {draw.size} entries, but "
                f"the first that covers its answer has {first}",
                case="another-drawing-head",
            )
        root = _bytes(draw.root)
        if not self._is_signed(first, root):
            raise EvidenceError(
                f"{facts.audit_id} was drawn by a root that no checkpoint has",
                case="unsigned-drawing-head",
            )
        return root


def _bytes(root: str) -> bytes:
    try:
        return bytes.fromhex(root)
    except ValueError as error:
        raise EvidenceError(
            "the deciding root is not in hexadecimal", case="not-hexadecimal"
        ) from error
