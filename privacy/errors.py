"""Errors of the privacy package.

PrivacyError
├── BoundsError      a table is not what its bounds say
├── UnderpaidError   a release would cost more than was charged for it
└── EvidenceError    what was shown proves nothing
    ├── StatementError   a signature that is not of this statement
    ├── ProofError       a Merkle proof that does not lead to the root
    ├── NoteError        a signed note that is malformed or that nobody trusted signed
    └── LedgerError      an entry or a head that an honest ledger would not have

`case` is a stable word that tells refusals of one class apart; messages may change.
"""


class PrivacyError(Exception):
    """A promise that would have been broken; the code stopped instead."""

    def __init__(self, *message: str, case: str | None = None) -> None:
        super().__init__(*message)
        self.case = case


class BoundsError(PrivacyError):
    """A table is not what its bounds say."""


class UnderpaidError(PrivacyError):
    """A release would cost more than was charged for it."""


class EvidenceError(PrivacyError):
    """The evidence given does not prove the claim."""


class StatementError(EvidenceError):
    """A signature that is not of this statement."""


class ProofError(EvidenceError):
    """A Merkle proof that does not lead to the root."""


class NoteError(EvidenceError):
    """A signed note that is malformed, or that nobody trusted signed."""


class InvalidLedgerError(EvidenceError):
    """An entry, or a head (`number` is None), that an honest ledger would not have."""

    def __init__(self, number: int | None, reason: str, *, case: str | None = None) -> None:
        super().__init__(reason if number is None else f"entry {number}: {reason}", case=case)
        self.number = number
        self.reason = reason
