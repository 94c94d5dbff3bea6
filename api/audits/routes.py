"""`/v1/audits`: price, submit, follow and cancel audits, and fetch their releases."""

import threading
from typing import Annotated

from fastapi import Body, Response
from fastapi.responses import StreamingResponse

from api.audits import queries, quotes, service
from api.audits.event_streams import EventStreams
from api.audits.submission import AuditSubmission
from api.identity.roles import AuditorDep, AuditorDoor
from api.kernel.errors import (
    AboveLifetimeCapError,
    AudienceNotSealedError,
    AuditTooLargeError,
    BudgetExhaustedError,
    EpsilonAboveMandateError,
    ForbiddenError,
    InvalidBinsError,
    MandateExpiredError,
    MandateNotYetValidError,
    MandateSuspendedError,
    NoiseTooLargeError,
    NoMandateError,
    NotCancellableError,
    NotFoundError,
    NotReleasedError,
    NotSignedError,
    PlatformExhaustedError,
    QueueFullError,
    QuotaExceededError,
    RateLimitedError,
    UnauthenticatedError,
    UnavailableError,
    UnsupportedAudienceError,
    UnsupportedAuditError,
)
from api.ledger.signed_requests import REFUSALS, SignedDep
from api.web.dependencies import PlatformDep, ReadDep, SettingsDep, StoreDep, part
from api.web.parameters import CursorQuery, LimitQuery
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import (
    EXAMPLES,
    Audit,
    AuditRequest,
    BatchQuote,
    InclusionProof,
    Page,
    Progress,
    Quote,
    Release,
)

router = new_router(
    prefix="/v1/audits",
    tags=["audits"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)
SubmissionsDep = Annotated[AuditSubmission, part("submissions")]
StreamsDep = Annotated[EventStreams, part("streams")]
# Wakes the embedded worker.
WakeDep = Annotated[threading.Event, part("wake")]
RequestBody = Annotated[
    AuditRequest, Body(openapi_examples={each["kind"]: {"value": each} for each in EXAMPLES})
]
# Schema of one event of the stream.
_EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"const": "progress"},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": Progress.model_json_schema(),
        },
    },
}
_REFUSALS = (
    AboveLifetimeCapError,
    NotFoundError,
    AudienceNotSealedError,
    AuditTooLargeError,
    InvalidBinsError,
    UnsupportedAudienceError,
    UnsupportedAuditError,
    NoiseTooLargeError,
    NoMandateError,
    MandateNotYetValidError,
    MandateSuspendedError,
    MandateExpiredError,
)


@router.post("/price", responses=responses(ForbiddenError, *_REFUSALS, body=True))
def price_audit(
    request: RequestBody,
    caller: AuditorDep,
    session: ReadDep,
    settings: SettingsDep,
    platform: PlatformDep,
) -> Quote:
    """Return the price of an audit, the error to expect, and what would remain. Spends nothing."""
    return quotes.quote(session, caller, request, platform, settings)


@router.post("/prices", responses=responses(ForbiddenError, *_REFUSALS, body=True))
def price_audits(
    requests: Annotated[
        list[AuditRequest],
        Body(min_length=1, max_length=100, openapi_examples={"two": {"value": EXAMPLES[:2]}}),
    ],
    caller: AuditorDep,
    session: ReadDep,
    settings: SettingsDep,
    platform: PlatformDep,
) -> BatchQuote:
    """Return quotes of several audits, in the order in which they would be paid."""
    return quotes.quote_all(session, caller, requests, platform, settings)


@router.post(
    "",
    status_code=202,
    response_model=Audit,
    responses=responses(
        ForbiddenError,
        *_REFUSALS,
        EpsilonAboveMandateError,
        BudgetExhaustedError,
        PlatformExhaustedError,
        QueueFullError,
        RateLimitedError,
        *REFUSALS,
        body=True,
    ),
)
def submit_audit(
    request: RequestBody,
    caller: AuditorDep,
    submissions: SubmissionsDep,
    wake: WakeDep,
    signed: SignedDep,
) -> Response:
    """Charge the audit now and run it later; after a crash it resumes on the same charge."""
    audit = service.submit_audit(submissions, wake, caller, request, signed)
    # Serialised here, because FastAPI would check and serialise it again in another thread.
    headers = {"Location": f"/v1/audits/{audit.id}"}
    return Response(audit.model_dump_json(), 202, headers, "application/json")


@router.get("")
def list_audits(
    caller: AuditorDep, session: ReadDep, cursor: CursorQuery = None, limit: LimitQuery = 50
) -> Page[Audit]:
    """List your audits, newest first."""
    return queries.list_audits(session, caller, cursor, limit)


@router.get("/{audit_id}", responses=responses(NotFoundError))
def get_audit(audit_id: str, caller: AuditorDep, session: ReadDep) -> Audit:
    """Return one of your audits."""
    return queries.get_audit(session, caller, audit_id)


@router.post("/{audit_id}/cancel", responses=responses(NotFoundError, NotCancellableError))
def cancel_audit(
    audit_id: str, caller: AuditorDep, store: StoreDep, settings: SettingsDep
) -> Audit:
    """Cancel the audit and refund its charge, if nothing private has been read."""
    return service.cancel_audit(store, caller, audit_id, settings)


@router.get(
    "/{audit_id}/events",
    response_class=StreamingResponse,
    responses=responses(NotFoundError, QuotaExceededError, UnavailableError)
    | {200: {"content": {"text/event-stream": {"schema": _EVENT}}}},
)
async def follow_audit(
    audit_id: str, auditor: AuditorDoor, store: StoreDep, streams: StreamsDep
) -> Response:
    """Stream the audit's state as server-sent events, at every change until it is final.

    The stream also ends when the token expires or is revoked. Open it again with a new token.
    """
    return await service.follow_audit(store, streams, auditor, audit_id)


@router.get(
    "/{audit_id}/release",
    response_model=Release,
    responses=responses(NotFoundError, NotReleasedError),
)
def get_release(audit_id: str, auditor: AuditorDoor, store: StoreDep) -> Response:
    """Return the release: always the same bytes."""
    release = queries.get_release(store, auditor(), audit_id)
    return Response(release, media_type="application/json")


@router.get(
    "/{audit_id}/proof", responses=responses(NotFoundError, NotReleasedError, NotSignedError)
)
def prove_release(audit_id: str, caller: AuditorDep, session: ReadDep) -> InclusionProof:
    """Prove that the ledger holds the release, once a checkpoint covers it (within seconds)."""
    return queries.prove_release(session, caller, audit_id)
