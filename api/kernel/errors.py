"""The service's errors. Each is a problem of `openapi.problems.TABLE`, by its code.

ApiError
├── InvalidRequestError          ├── MalformedBodyError        ├── TooLargeError
├── UnauthenticatedError         ├── UnsignedError             ├── ForbiddenError
├── NotFoundError
├── UnsupportedMediaTypeError    ├── RateLimitedError          ├── UnavailableError
├── QueueFullError               ├── MatchingQuotaError        ├── RequestTimeoutError
├── ConflictError
│   ├── AudienceSealedError      ├── AudienceNotSealedError    ├── IdempotencyConflictError
│   ├── NotCancellableError      ├── NotReleasedError          ├── NotSignedError
│   ├── BeginAgainError          ├── PartsLostError            └── QuotaExceededError
├── MessageRefusedError
├── UploadError
│   ├── MalformedMembersError    ├── DigestMismatchError       ├── EmptyGroupError
│   ├── AudienceTooLargeError    └── UnavailableSampleError
└── RefusalError                 a refused audit: also an entry of the ledger
    ├── UnsupportedAuditError    ├── InvalidBinsError          ├── EpsilonAboveMandateError
    ├── NoMandateError           ├── MandateNotYetValidError   ├── MandateExpiredError
    ├── BudgetExhaustedError     ├── PlatformExhaustedError    ├── AboveLifetimeCapError
    ├── MandateSuspendedError    ├── NoConsentError            ├── ExplorationExhaustedError
    ├── AuditTooLargeError       ├── NoiseTooLargeError        └── UnsupportedAudienceError

What a message says may depend on what the caller sent and on public facts, never on people (R2).
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from openapi.problems import Problem, problem


class ApiError(Exception):
    """A request that cannot be served; `members` are the problem's own fields.

    `case` is a stable word that distinguishes refusals with one code. It stays in the service.
    """

    code: ClassVar[str] = "internal"

    def __init__(
        self,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        case: str | None = None,
        **members: Any,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.case = case
        self.headers = dict(headers or {})
        self.members = members

    def problem(self, instance: str | None = None) -> Problem:
        return problem(self.code, self.detail, instance, **self.members)


class InvalidRequestError(ApiError):
    code = "invalid-request"


class MalformedBodyError(ApiError):
    code = "malformed-body"


class TooLargeError(ApiError):
    code = "too-large"


class UnauthenticatedError(ApiError):
    code = "unauthenticated"

    def __init__(self, detail: str, *, sent: bool = True, case: str | None = None) -> None:
        """Create the error; `sent` says whether there was a token at all. [RFC6750, §3.1]"""
        challenge = 'Bearer error="invalid_token"' if sent else "Bearer"
        super().__init__(detail, headers={"WWW-Authenticate": challenge}, case=case)


class UnsignedError(ApiError):
    code = "unsigned"


class ForbiddenError(ApiError):
    code = "forbidden"


class NotFoundError(ApiError):
    code = "not-found"


class RequestTimeoutError(ApiError):
    code = "request-timeout"


class UnsupportedMediaTypeError(ApiError):
    code = "unsupported-media-type"


class RateLimitedError(ApiError):
    code = "rate-limited"
    # The researcher for the access log, if known.
    researcher_id: str | None = None


class QueueFullError(ApiError):
    code = "queue-full"


class MatchingQuotaError(ApiError):
    code = "matching-quota"


class UnavailableError(ApiError):
    code = "unavailable"


class OverloadedError(UnavailableError):
    """Request that was shed on purpose, before any work.

    `reason` distinguishes it from an outage.
    """

    def __init__(
        self, detail: str, *, headers: Mapping[str, str] | None = None, **members: Any
    ) -> None:
        super().__init__(detail, headers=headers, reason="overload", **members)


class ConflictError(ApiError):
    code = "conflict"


class AudienceSealedError(ConflictError):
    code = "audience-sealed"


class AudienceNotSealedError(ConflictError):
    code = "audience-not-sealed"


class IdempotencyConflictError(ConflictError):
    code = "idempotency-conflict"


class NotCancellableError(ConflictError):
    code = "not-cancellable"


class NotReleasedError(ConflictError):
    code = "not-released"


class NotSignedError(ConflictError):
    code = "not-signed"


class BeginAgainError(ConflictError):
    code = "begin-again"


class PartsLostError(ConflictError):
    code = "parts-lost"


class QuotaExceededError(ConflictError):
    code = "quota-exceeded"


class MessageRefusedError(ApiError):
    code = "message-refused"


class UploadError(ApiError):
    code = "malformed-members"


class MalformedMembersError(UploadError):
    code = "malformed-members"


class DigestMismatchError(UploadError):
    code = "digest-mismatch"


class EmptyGroupError(UploadError):
    code = "empty-group"


class AudienceTooLargeError(UploadError):
    code = "audience-too-large"


class UnavailableSampleError(UploadError):
    code = "unavailable-sample"


class RefusalError(ApiError):
    code = "unsupported-audit"


class UnsupportedAuditError(RefusalError):
    code = "unsupported-audit"


class UnsupportedAudienceError(RefusalError):
    code = "unsupported-audience"


class AuditTooLargeError(RefusalError):
    code = "audit-too-large"


class NoiseTooLargeError(RefusalError):
    code = "noise-too-large"


class InvalidBinsError(RefusalError):
    code = "invalid-bins"


class EpsilonAboveMandateError(RefusalError):
    code = "epsilon-above-mandate"


class NoMandateError(RefusalError):
    code = "no-mandate"


class MandateNotYetValidError(RefusalError):
    code = "mandate-not-yet-valid"


class MandateExpiredError(RefusalError):
    code = "mandate-expired"


class MandateSuspendedError(RefusalError):
    code = "mandate-suspended"


class BudgetExhaustedError(RefusalError):
    code = "budget-exhausted"


class PlatformExhaustedError(RefusalError):
    code = "platform-exhausted"


class AboveLifetimeCapError(RefusalError):
    code = "above-lifetime-cap"


class NoConsentError(RefusalError):
    code = "no-consent"


class ExplorationExhaustedError(RefusalError):
    code = "exploration-exhausted"
