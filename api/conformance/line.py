"""Checks of the line: who may call, and what becomes of bytes that are none of ours."""

import httpx2

from api.conformance.subject import Subject
from api.findings import Checks, SkippedError
from api.hosting import wire
from api.hosting.line import LineOptions

LINE = Checks[Subject]()
_REFUSED = (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN)


@LINE.check("refuse every call without the right token or certificate, with 401 or 403")
def strangers_are_refused(subject: Subject) -> str | None:
    line = _line(subject)
    stranger = line.model_copy(update={"certificate": None, "certificate_key": None})
    with _client(stranger) as http:
        for headers in ({}, {"Authorization": "Bearer conformance"}):
            try:
                status = http.get(wire.FACTS, headers=headers).status_code
            except httpx2.TransportError:
                continue  # refused before a word was said, as mutual TLS does
            if status not in _REFUSED:
                return f"a stranger got the status {status}"
    return None


@LINE.check("refuse a body that is no Arrow stream, with a status from 400 on")
def garbage_is_refused(subject: Subject) -> str | None:
    line = _line(subject)
    headers = {**line.authorization(), "Content-Type": wire.MEDIA_TYPE}
    with _client(line) as http:
        answer = http.post(wire.CALLS + "match", content=b"conformance", headers=headers)
    status = answer.status_code
    return f"it got the status {status}" if status < httpx2.codes.BAD_REQUEST else None


def _line(subject: Subject) -> LineOptions:
    if subject.line is None:
        raise SkippedError("it is not reached by HTTP")
    return subject.line


def _client(line: LineOptions) -> httpx2.Client:
    timeout = httpx2.Timeout(line.call_seconds, connect=line.connect_seconds)
    return httpx2.Client(base_url=line.url, verify=line.tls(), timeout=timeout, trust_env=False)
