"""Errors of this package, as one tree.

    AuditorError
    ├── InputError                      refused here; nothing was sent, nothing was charged
    ├── ProfileError                    a profile or a key file cannot be used
    ├── PendingAuditError               the record of an interrupted audit cannot be used
    ├── ConnectionBrokenError           the service cannot be reached
    ├── ContractError                   the service's answer violates the contract
    ├── TrustError                      the service contradicts what was sent or signed
    │   ├── CommitmentError             it sealed an audience that differs from the uploaded one
    │   ├── ReceiptError                it did not sign this release
    │   └── LedgerError                 its ledger was changed, or its balances are wrong
    ├── AuditFailedError                the audit ended without a release
    └── ProblemError                    the service refused (RFC 9457)
        ├── RequestError                invalid-request, malformed-body, method-not-allowed,
        │   │                           not-acceptable, unsupported-media-type, too-large,
        │   │                           request-timeout
        │   ├── InvalidBinsError        invalid-bins
        │   ├── UnsupportedAuditError   unsupported-audit
        │   ├── AuditTooLargeError      audit-too-large
        │   ├── NoiseTooLargeError      noise-too-large
        │   ├── UnsupportedAudienceError unsupported-audience
        │   └── NoConsentError          no-consent
        ├── MembersError                malformed-members, digest-mismatch
        │   ├── EmptyGroupError         empty-group
        │   ├── AudienceTooLargeError   audience-too-large
        │   └── UnavailableSampleError  unavailable-sample
        ├── AuthenticationError         unauthenticated
        ├── UnsignedError               unsigned
        ├── ForbiddenError              forbidden
        ├── NotFoundError               not-found
        ├── ConflictError               conflict
        │   ├── AudienceSealedError     audience-sealed
        │   ├── AudienceNotSealedError  audience-not-sealed
        │   ├── IdempotencyConflictError  idempotency-conflict
        │   ├── NotCancellableError     not-cancellable
        │   ├── NotReleasedError        not-released
        │   ├── NotSignedError          not-signed
        │   ├── BeginAgainError         begin-again
        │   ├── PartsLostError          parts-lost
        │   └── QuotaExceededError      quota-exceeded
        ├── MessageRefusedError         message-refused
        ├── MandateError                no-mandate, mandate-not-yet-valid, mandate-expired,
        │   │                           mandate-suspended, epsilon-above-mandate
        │   └── ExhaustedError
        │       ├── BudgetExhaustedError       budget-exhausted
        │       └── ExplorationExhaustedError  exploration-exhausted
        ├── PlatformExhaustedError      platform-exhausted
        ├── AboveLifetimeCapError       above-lifetime-cap
        ├── RateLimitedError            rate-limited
        │   ├── QueueFullError          queue-full
        │   └── MatchingQuotaError      matching-quota
        └── ServiceError                internal, unavailable

The message of a `ProblemError` comes from the service, which states what happened, what it cost and
what to do next. `advice` adds facts that only the SDK knows. A code that this release of the SDK
does not know becomes a plain `ProblemError`.
"""

from decimal import Decimal
from typing import ClassVar

from openapi.problems import Problem


class AuditorError(Exception):
    """Root of the tree: catching it catches every error that this package raises deliberately.

    `case` is a stable word that distinguishes refusals of one class; messages may change.
    """

    def __init__(self, *message: str, case: str | None = None) -> None:
        super().__init__(*message)
        self.case = case


class InputError(AuditorError, ValueError):
    """Refusal on this machine: nothing was sent and nothing was charged."""


class ProfileError(AuditorError):
    """A profile or a key file is missing or cannot be used."""


class PendingAuditError(AuditorError):
    """The record of an interrupted audit cannot be read: nothing was sent."""


class ConnectionBrokenError(AuditorError):
    """The service cannot be reached, or the connection broke and a retry is not safe."""


class ContractError(AuditorError):
    """The service's answer violates the contract."""


class TrustError(AuditorError):
    """An answer contradicts what was sent or signed. Keep all files and ask the operator."""


class CommitmentError(TrustError):
    """The commitment of the sealed audience is not that of the uploaded members."""


class ReceiptError(TrustError):
    """The receipt does not verify: the platform's key did not sign this release."""


class LedgerError(TrustError):
    """The ledger was changed, its balances are wrong, or no trusted key signed it."""


class AuditFailedError(AuditorError):
    """The audit ended without a release: it failed or was cancelled."""


class ProblemError(AuditorError):
    """The service refused the request, and states the reason."""

    advice: ClassVar[str] = ""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        detail = f"{problem.detail[:1].upper()}{problem.detail[1:].rstrip('.')}."
        super().__init__(" ".join(filter(None, [detail, self.advice, f"[{problem.code}]"])))

    @property
    def code(self) -> str:
        return self.problem.code

    @property
    def status(self) -> int:
        return self.problem.status


class RequestError(ProblemError):
    pass


class InvalidBinsError(RequestError):
    pass


class UnsupportedAuditError(RequestError):
    pass


class UnsupportedAudienceError(RequestError):
    pass


class AuditTooLargeError(RequestError):
    pass


class NoiseTooLargeError(RequestError):
    pass


class NoConsentError(RequestError):
    advice = "Upload people who agreed, with `upload(..., consented=True)`."


class MembersError(ProblemError):
    @property
    def line(self) -> int | None:
        """The first unreadable line, if the service names one."""
        return getattr(self.problem, "line", None)


class EmptyGroupError(MembersError):
    pass


class AudienceTooLargeError(MembersError):
    pass


class UnavailableSampleError(MembersError):
    pass


class AuthenticationError(ProblemError):
    advice = "Check the profile's researcher and key, and the clock of this machine."


class UnsignedError(ProblemError):
    advice = "Check that the profile holds the key that is registered for you."


class ForbiddenError(ProblemError):
    advice = "Use the profile of a researcher who has that role."


class NotFoundError(ProblemError):
    advice = "Check the profile too: the service never shows what belongs to others."


class ConflictError(ProblemError):
    pass


class AudienceSealedError(ConflictError):
    pass


class AudienceNotSealedError(ConflictError):
    advice = "Finish the upload first with `upload(..., resume=audience_id)`."


class IdempotencyConflictError(ConflictError):
    pass


class NotCancellableError(ConflictError):
    pass


class NotReleasedError(ConflictError):
    advice = "Wait for the release with `audits.wait(audit_id)`."


class NotSignedError(ConflictError):
    advice = "The service signs a checkpoint every few seconds. Ask again."


class BeginAgainError(ConflictError):
    advice = "Repeat the call with the same idempotency_key: nothing is paid twice."


class PartsLostError(ConflictError):
    advice = "Upload again with resume=…; only the lost parts are sent."


class QuotaExceededError(ConflictError):
    """The auditor's quota is full. The request can succeed after something is erased or closed."""


class MessageRefusedError(ProblemError):
    """The platform refused a message of a two-party run."""


class MandateError(ProblemError):
    pass


class ExhaustedError(MandateError):
    """The mandate does not cover the request in addition to what was already spent."""

    @property
    def spent(self) -> Decimal:
        return self._amount("spent")

    @property
    def asked(self) -> Decimal:
        return self._amount("asked")

    @property
    def remaining(self) -> Decimal:
        return self._amount("remaining")

    @property
    def limit(self) -> Decimal:
        return self._amount("limit")

    def _amount(self, name: str) -> Decimal:
        return Decimal(str(getattr(self.problem, name)))


class BudgetExhaustedError(ExhaustedError):
    """The mandate does not cover the price."""


class ExplorationExhaustedError(ExhaustedError):
    """The audit could cost people more reward than the mandate allows: alpha · steps · targets."""

    advice = "Allow fewer steps or a smaller alpha."


class PlatformExhaustedError(ProblemError):
    """The budget that the platform grants to all auditors together is spent for now."""


class AboveLifetimeCapError(ProblemError):
    """The price is above the lifetime cap of one person, so nobody could be in the audit."""


class RateLimitedError(ProblemError):
    pass


class QueueFullError(RateLimitedError):
    """The queue of audits is full; nothing was charged."""


class MatchingQuotaError(RateLimitedError):
    """The auditor's daily quota of matched identifiers is used up."""


class ServiceError(ProblemError):
    advice = "Try again later. Nothing is charged twice."


BY_CODE: dict[str, type[ProblemError]] = {
    "invalid-request": RequestError,
    "malformed-body": RequestError,
    "unauthenticated": AuthenticationError,
    "unsigned": UnsignedError,
    "forbidden": ForbiddenError,
    "not-found": NotFoundError,
    "method-not-allowed": RequestError,
    "not-acceptable": RequestError,
    "conflict": ConflictError,
    "audience-sealed": AudienceSealedError,
    "audience-not-sealed": AudienceNotSealedError,
    "idempotency-conflict": IdempotencyConflictError,
    "not-cancellable": NotCancellableError,
    "not-released": NotReleasedError,
    "not-signed": NotSignedError,
    "begin-again": BeginAgainError,
    "parts-lost": PartsLostError,
    "quota-exceeded": QuotaExceededError,
    "message-refused": MessageRefusedError,
    "request-timeout": RequestError,
    "too-large": RequestError,
    "unsupported-media-type": RequestError,
    "malformed-members": MembersError,
    "digest-mismatch": MembersError,
    "empty-group": EmptyGroupError,
    "audience-too-large": AudienceTooLargeError,
    "unavailable-sample": UnavailableSampleError,
    "unsupported-audit": UnsupportedAuditError,
    "unsupported-audience": UnsupportedAudienceError,
    "audit-too-large": AuditTooLargeError,
    "noise-too-large": NoiseTooLargeError,
    "invalid-bins": InvalidBinsError,
    "epsilon-above-mandate": MandateError,
    "no-mandate": MandateError,
    "mandate-not-yet-valid": MandateError,
    "mandate-expired": MandateError,
    "mandate-suspended": MandateError,
    "budget-exhausted": BudgetExhaustedError,
    "no-consent": NoConsentError,
    "exploration-exhausted": ExplorationExhaustedError,
    "platform-exhausted": PlatformExhaustedError,
    "above-lifetime-cap": AboveLifetimeCapError,
    "rate-limited": RateLimitedError,
    "queue-full": QueueFullError,
    "matching-quota": MatchingQuotaError,
    "internal": ServiceError,
    "unavailable": ServiceError,
}


def error_of(problem: Problem) -> ProblemError:
    """Return the error of a problem, chosen by its code and never by its prose."""
    return BY_CODE.get(problem.code, ProblemError)(problem)
