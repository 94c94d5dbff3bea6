"""Wait for the end of an audit: by events while a stream is open, by polling in between.

A stream may end before the audit does: its token expires, the connection breaks, or the service has
too many streams. The client opens it again later, not before `Retry-After`. If a stream stays
silent, an intermediary holds events back, and the client polls the state until the end.
"""

import math
import random
import time
from collections.abc import Generator, Iterator
from urllib.parse import urlsplit

import httpx2
from pydantic import ValidationError

from auditor_client.errors import AuditFailedError
from auditor_client.local.progress import bar
from auditor_client.transport.http_client import StreamRefusedError, Transport
from openapi.resources import Audit, AuditState, Progress

FINAL: frozenset[AuditState] = frozenset({"released", "failed", "cancelled"})
SHORTEST_POLL = 0.2
LONGEST_POLL = 5.0
# Seconds between the end of a stream and the start of the next.
RECONNECT_SECONDS = 10.0


def wait_until_final(transport: Transport, audit_id: str, *, progress: bool = True) -> Audit:
    """Return the released audit; raise an error if it ended otherwise."""
    path = f"/v1/audits/{audit_id}"
    with bar(f"Charged: {audit_id}", show=progress) as progress_bar:
        for state in _states(transport, path):
            progress_bar.say(waiting_words(state, audit_id, transport.url))
    audit = transport.get(path, Audit)
    if audit.state != "released":
        reason = f": {audit.failure}" if audit.failure else ""
        raise AuditFailedError(
            f"The audit {audit.id} was {audit.state} and has no release{reason}", case=audit.state
        )
    return audit


def waiting_words(state: AuditState, audit_id: str, url: str) -> str:
    """Return a sentence that names the event and the service that the client waits for."""
    host = urlsplit(url).netloc
    if state == "charged":
        return f"Waiting in the queue of {host} for a worker to take {audit_id}"
    if state == "running":
        return f"Waiting for the worker of {host} that runs {audit_id}"
    return f"{audit_id} is {state}"


def _states(transport: Transport, path: str) -> Iterator[AuditState]:
    """Yield the states of the audit up to a final one."""
    pauses = _pauses()
    while True:
        state, wait = yield from _by_events(transport, path)
        if state not in FINAL:
            again = time.monotonic() + wait
            state = yield from _by_asking(transport, path, pauses, again)
        if state in FINAL:
            return


def _by_events(
    transport: Transport, path: str
) -> Generator[AuditState, None, tuple[AuditState | None, float]]:
    """Yield states while a stream is open; return the last state and the seconds before the next
    stream.
    """
    state: AuditState | None = None
    try:
        for event in transport.events(f"{path}/events"):
            if event.event == "progress":
                state = Progress.model_validate_json(event.data).state
                yield state
                if state in FINAL:
                    return state, 0.0
    except StreamRefusedError as error:
        return state, max(RECONNECT_SECONDS, error.seconds)
    except (httpx2.TimeoutException, ValidationError):
        return state, math.inf  # an intermediary holds events back
    except httpx2.TransportError:
        return state, RECONNECT_SECONDS
    return state, RECONNECT_SECONDS


def _by_asking(
    transport: Transport, path: str, pauses: Iterator[float], until: float
) -> Generator[AuditState, None, AuditState]:
    """Yield polled states up to a final one or to a time limit; return the last."""
    while True:
        state = transport.get(path, Audit).state
        yield state
        if state in FINAL or time.monotonic() >= until:
            return state
        time.sleep(next(pauses))


def _pauses() -> Iterator[float]:
    pause = SHORTEST_POLL
    while True:
        yield random.uniform(pause / 2, pause)  # noqa: S311  (jitter is no secret)
        pause = min(LONGEST_POLL, pause * 1.5)
