"""Errors of the two-party protocol, each with a stable code.

The tree of classes:

    TwoPartyError (a PrivacyError)
    ├── MessageError           a message that this party refuses; its state is unchanged
    │   ├── TruncatedError     it ends too early
    │   ├── OversizedError     it is too long
    │   ├── MalformedError     no message of this protocol, or not by the expected party
    │   ├── VersionError       it has another version
    │   ├── ForeignError       it belongs to another run, other terms, or another history
    │   ├── ReplayedError      it was accepted before
    │   ├── OutOfOrderError    another message comes first
    │   ├── PointError         a point that is not canonical, or the identity
    │   ├── EqualPointsError   a point that repeats
    │   └── CiphertextError    a coefficient that is not below its modulus
    ├── WrongProofError        a proof fails: the run ends, and its charge stays spent
    ├── OverflowedError        a sum left the range in which it is exact
    ├── NoiseBudgetError       a ciphertext has more noise than an honest party adds
    ├── SpentError             a party that has ended, or that failed where it may not try again
    └── OpeningError           the file is not a transcript, or the key does not open it
"""

from privacy.errors import PrivacyError


class TwoPartyError(PrivacyError):
    """The protocol stopped to prevent a wrong result."""

    code = "two-party"


class MessageError(TwoPartyError):
    """A message that this party refuses; its state is unchanged."""

    code = "message"


class TruncatedError(MessageError):
    """A message ends too early: send the whole message again."""

    code = "message-truncated"


class OversizedError(MessageError):
    """A message is too long."""

    code = "message-oversized"


class MalformedError(MessageError):
    """A message that does not belong to this protocol, or was not sent by the expected party."""

    code = "message-malformed"


class VersionError(MessageError):
    """A message of another version of the protocol."""

    code = "message-version"


class ForeignError(MessageError):
    """A message of another run, of other terms, or after another history."""

    code = "message-foreign"


class ReplayedError(MessageError):
    """A message that was accepted before."""

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
    """A proof that the points have the committed key does not hold: the run ends here."""

    code = "wrong-proof"


class OverflowedError(TwoPartyError):
    """A sum left the range in which it is exact."""

    code = "overflowed"


class NoiseBudgetError(TwoPartyError):
    """A ciphertext has more noise than an honest party adds."""

    code = "noise-budget"


class SpentError(TwoPartyError):
    """A party that has ended, or failed at a step that may not be repeated: begin a new run."""

    code = "spent"


class OpeningError(TwoPartyError):
    """The file is not a transcript, or the key does not open it."""

    code = "opening"
