"""Errors of the two-party protocol, each with a stable code.

TwoPartyError (a PrivacyError)
├── MessageError           a message that this party does not take; its state is as before
│   ├── TruncatedError     it ends too early
│   ├── OversizedError     it goes on too long
│   ├── MalformedError     it is no message of this protocol, or not by the party it should be by
│   ├── VersionError       it is of another version
│   ├── ForeignError       it is of another run, of other terms, or of another history
│   ├── ReplayedError      it was taken before
│   ├── OutOfOrderError    another message comes first
│   ├── PointError         a point that is not canonical, or the identity
│   ├── EqualPointsError   a point that repeats
│   └── CiphertextError    a coefficient that is not below its modulus
├── ProofError             a proof that does not hold: the run ends, and its charge stays spent
├── OverflowedError        a sum left the range in which it is exact
├── NoiseBudgetError       a ciphertext holds more noise than an honest party puts there
├── SpentError             a party that has ended, or that failed where it may not try again
└── OpeningError           what was given is no transcript, or the key does not open it
"""

from privacy.errors import PrivacyError


class TwoPartyError(PrivacyError):
    """The protocol stopped rather than go on wrongly."""

    code = "two-party"


class MessageError(TwoPartyError):
    """A message that this party does not take; its state is as before."""

    code = "message"


class TruncatedError(MessageError):
    """A message ends too early: send it again, whole."""

    code = "message-truncated"


class OversizedError(MessageError):
    """A message goes on too long."""

    code = "message-oversized"


class MalformedError(MessageError):
    """No message of this protocol, or not by the party that should have sent it."""

    code = "message-malformed"


class VersionError(MessageError):
    """A message of another version of the protocol."""

    code = "message-version"


class ForeignError(MessageError):
    """A message of another run, of other terms, or after another history."""

    code = "message-foreign"


class ReplayedError(MessageError):
    """A message that was taken before."""

    code = "message-replayed"


class OutOfOrderError(MessageError):
    """Another message comes first."""

    code = "message-out-of-order"


class PointError(MessageError):
    """A point that is not canonical, or the identity."""

    code = "point"


class EqualPointsError(MessageError):
    """A point that repeats among the rows, or among the candidates."""

    code = "equal-points"


class CiphertextError(MessageError):
    """A coefficient that is not below its modulus."""

    code = "ciphertext"


class WrongProofError(TwoPartyError):
    """A proof that the points carry the committed key does not hold: the run ends here."""

    code = "wrong-proof"


class OverflowedError(TwoPartyError):
    """A sum left the range in which it is exact."""

    code = "overflowed"


class NoiseBudgetError(TwoPartyError):
    """A ciphertext holds more noise than an honest party puts there."""

    code = "noise-budget"


class SpentError(TwoPartyError):
    """A party that has ended, or that failed where it may not try again: begin a new run."""

    code = "spent"


class OpeningError(TwoPartyError):
    """The file is not a transcript, or the key does not open it."""

    code = "opening"
