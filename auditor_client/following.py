"""Follow an audit to its end: by events where the stream holds, by asking where it does not."""

import time
from collections.abc import Iterator

import httpx2
from pydantic import ValidationError

from auditor_client.errors import AuditFailedError
from auditor_client.progress import bar
from auditor_client.transport import Transport
from openapi.models import Audit, AuditState, Progress

FINAL: frozenset[AuditState] = frozenset({"released", "failed", "cancelled"})
SHORTEST_POLL = 0.2
LONGEST_POLL = 5.0


def follow(transport: Transport, audit_id: str, *, progress: bool = True) -> Audit:
    """The released audit; an audit that ended otherwise is an error."""
    path = f"/v1/audits/{audit_id}"
    with bar("Audit charged", show=progress) as line:
        for state in _states(transport, path):
            line.say(f"Audit {state}")
    audit = transport.get(path, Audit)
    if audit.state != "released":
        reason = f": {audit.failure}" if audit.failure else ""
        raise AuditFailedError(f"The audit {audit.id} was {audit.state}, without release{reason}")
    return audit


def _states(transport: Transport, path: str) -> Iterator[AuditState]:
    """The states of the audit up to a final one."""
    for state in _by_events(transport, path):
        yield state
        if state in FINAL:
            return
    yield from _by_asking(transport, path)


def _by_events(transport: Transport, path: str) -> Iterator[AuditState]:
    try:
        for event in transport.events(f"{path}/events"):
            if event.event == "progress":
                yield Progress.model_validate_json(event.data).state
    except (httpx2.TransportError, ValidationError):
        return  # The stream broke, or something in between does not pass streams on.


def _by_asking(transport: Transport, path: str) -> Iterator[AuditState]:
    pause = SHORTEST_POLL
    while True:
        state = transport.get(path, Audit).state
        yield state
        if state in FINAL:
            return
        time.sleep(pause)
        pause = min(LONGEST_POLL, pause * 1.5)
