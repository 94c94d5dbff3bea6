"""Errors of the privacy package.

PrivacyError
├── BoundsError      a table violates its bounds
├── UnderpaidError   a release would cost more than was charged for it
└── EvidenceError    the evidence given does not prove the claim
    ├── StatementError   a signature does not match this statement
    ├── ProofError       a Merkle proof does not lead to the root
    ├── NoteError        a signed note is malformed, or no trusted key signed it
    └── LedgerError      an entry or a checkpoint that an honest ledger would not have

`case` is a stable word that distinguishes refusals of one class; messages may change.
"""


class PrivacyError(Exception):
    """The guarantee would have been violated; the code stopped instead."""

    def __init__(self, *message: str, case: str | None = None) -> None:
        super().__init__(*message)
        self.case = case


class BoundsError(PrivacyError):
    """A table violates its bounds."""


class UnderpaidError(PrivacyError):
    """A release would cost more than was charged for it."""


class EvidenceError(PrivacyError):
    """The evidence given does not prove the claim."""


class StatementError(EvidenceError):
    """A signature does not match this statement."""


class ProofError(EvidenceError):
    """A Merkle proof does not lead to the root."""


class NoteError(EvidenceError):
    """A signed note is malformed, or no trusted key signed it."""


class InvalidLedgerError(EvidenceError):
    """An entry, or a checkpoint (`number` is None), that an honest ledger would not have."""

    def __init__(self, number: int | None, reason: str, *, case: str | None = None) -> None:
        super().__init__(reason if number is None else f"entry {number}: {reason}", case=case)
        self.number = number
        self.reason = reason
