"""Commands on audits: submit, cancel, follow."""

import threading

from fastapi.concurrency import run_in_threadpool

from api.audits import cancellation, queries
from api.audits.event_streams import EventStreamResponse, EventStreams
from api.audits.submission import AuditSubmission
from api.db import Store
from api.identity.caller import Caller
from api.identity.roles import LazyCaller
from api.kernel import failpoints
from api.kernel.failpoints import Failpoint
from api.kernel.settings import Settings
from api.ledger.signed_requests import SignedRequest
from openapi.resources import Audit, AuditRequest


def submit_audit(
    submissions: AuditSubmission,
    wake: threading.Event,
    caller: Caller,
    request: AuditRequest,
    signed: SignedRequest,
) -> Audit:
    """Charge an audit that its researcher signed, and wake the worker that runs it."""
    statement = signed.stated(caller, "charge", request)
    audit = submissions.submit(caller, request, statement)
    wake.set()
    return audit


def cancel_audit(store: Store, caller: Caller, audit_id: str, settings: Settings) -> Audit:
    """Cancel an audit and refund it, if nothing private has been read."""
    with store.write() as session:
        audit = cancellation.cancel(session, caller, audit_id, settings)
    failpoints.hit(Failpoint.CANCEL_COMMITTED)
    return audit


async def follow_audit(
    store: Store, streams: EventStreams, auditor: LazyCaller, audit_id: str
) -> EventStreamResponse:
    """Return the stream of an audit's states.

    It ends when the audit is final, or when the caller may no longer follow.
    """
    caller, first = await run_in_threadpool(_load_state, store, auditor, audit_id)
    return streams.respond(caller, audit_id, first)


def _load_state(store: Store, auditor: LazyCaller, audit_id: str) -> tuple[Caller, str]:
    caller = auditor()
    with store.autocommit_connection() as connection:
        return caller, queries.load_state(connection, caller, audit_id)
