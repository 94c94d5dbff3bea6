"""`/v1/audits/{id}/exchange`: messages of a two-party audit; and openings by regulators."""

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from api.identity.roles import AuditorDep, RegulatorDep
from api.kernel.errors import (
    BeginAgainError,
    ConflictError,
    ForbiddenError,
    MandateSuspendedError,
    MessageRefusedError,
    NotFoundError,
    NotReleasedError,
    RateLimitedError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnsupportedMediaTypeError,
)
from api.ledger.signed_requests import REFUSALS, SignedDep
from api.two_party.dependencies import TwoPartyDep
from api.web.dependencies import ReadDep, StoreDep
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from api.web.waiting import hold_slot
from openapi.kinds.two_party import KIND
from openapi.resources import OpeningDraft, StoredRun, TwoPartyRun

BYTES = "application/octet-stream"
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_COMMON = responses(UnauthenticatedError, ForbiddenError, RateLimitedError)
router = new_router(prefix="/v1/audits", tags=[KIND.name], responses=_COMMON)
regulator = new_router(prefix="/v1/regulator", tags=["regulator"], responses=_COMMON)


@router.get("/{audit_id}/exchange", responses=responses(NotFoundError, ConflictError))
def get_exchange(audit_id: str, caller: AuditorDep, parts: TwoPartyDep) -> TwoPartyRun:
    """Return the terms and progress of a two-party audit, and the regulator of its key."""
    from api.two_party import exchange, views  # they need the extra `two-party`

    with parts.store.read() as session:
        audit = exchange.get_audit(session, caller, audit_id)
    return views.to_wire(parts, audit)


@router.post(
    "/{audit_id}/exchange",
    response_class=Response,
    openapi_extra={"requestBody": {"required": True, "content": {BYTES: _BINARY}}},
    responses=responses(
        NotFoundError,
        ConflictError,
        BeginAgainError,
        MandateSuspendedError,
        MessageRefusedError,
        NotReleasedError,
        TooLargeError,
        UnavailableError,
        UnsupportedMediaTypeError,
    )
    | {200: {"content": {BYTES: _BINARY}}},
)
async def exchange_message(
    audit_id: str, request: Request, caller: AuditorDep, parts: TwoPartyDep
) -> Response:
    """Answer the next message of a run. Sending a message again is harmless.

    A first message begins a new run on the same charge, until one run was answered.
    """
    from api.two_party import exchange

    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != BYTES:
        raise UnsupportedMediaTypeError(f"Send a body of type {BYTES}. The run is unchanged.")
    message = await request.body()
    async with hold_slot(parts.slots):
        reply = await run_in_threadpool(exchange.exchange, parts, caller, audit_id, message)
    return Response(reply, media_type=BYTES)


@regulator.get("/two-party-runs")
def list_waiting_runs(_: RegulatorDep, session: ReadDep) -> list[StoredRun]:
    """List runs that were answered and not delivered yet, the oldest first."""
    from api.two_party import openings

    return openings.list_waiting_runs(session)


@regulator.get("/two-party-runs/{audit_id}", responses=responses(NotFoundError))
def get_stored_run(audit_id: str, _: RegulatorDep, session: ReadDep) -> StoredRun:
    """Return one run that was answered."""
    from api.two_party import openings

    return openings.get_stored_run(session, audit_id)


@regulator.get(
    "/two-party-runs/{audit_id}/messages",
    response_class=StreamingResponse,
    responses=responses(NotFoundError) | {200: {"content": {BYTES: _BINARY}}},
)
def get_stored_messages(audit_id: str, _: RegulatorDep, store: StoreDep) -> Response:
    """Stream all messages of a run, each after its four-byte length, as `open_transcript` reads
    them.
    """
    from api.two_party import openings

    with store.read() as session:
        openings.get_stored_run(session, audit_id)
    return StreamingResponse(openings.stream_messages(store, audit_id), media_type=BYTES)


@regulator.post(
    "/openings",
    status_code=201,
    responses=responses(*REFUSALS, NotFoundError, ConflictError, body=True),
)
def state_opening(
    draft: OpeningDraft, caller: RegulatorDep, store: StoreDep, signed: SignedDep
) -> StoredRun:
    """Record a regulator's findings about a run. With a finding it is never delivered."""
    from api.two_party import openings

    with store.write() as session:
        statement = signed.statement(session, caller, "opening", draft)
        return openings.state_opening(session, draft, statement)
