"""Checks of the HTTP connection: refusal of unknown callers, and of invalid bodies."""

from io import BytesIO

import httpx2
import pyarrow as pa

from api.kernel.checks import Checks, NotApplicableError
from api.platforms.conformance.subject import TRIAL, Subject
from api.platforms.http import messages
from api.platforms.http.client import AdapterClientOptions
from api.platforms.http.content_json import encode_content
from api.platforms.http.public_facts import DIGEST

TRANSPORT = Checks[Subject]()
_ALONE = 20
_REFUSED = (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN)


@TRANSPORT.check("refuse every call without the right token or certificate, with 401 or 403")
def strangers_are_refused(subject: Subject) -> str | None:
    options = _options(subject)
    stranger = options.model_copy(update={"certificate": None, "certificate_key": None})
    with _client(stranger) as http:
        for headers in ({}, {"Authorization": "Bearer conformance"}):
            try:
                status = http.get(messages.FACTS, headers=headers).status_code
            except httpx2.TransportError:
                continue  # refused before any HTTP, as with mutual TLS
            if status not in _REFUSED:
                return f"an unknown caller got the status {status}"
    return None


@TRANSPORT.check("refuse a body that is not an Arrow stream, with a status of 400 or higher")
def garbage_is_refused(subject: Subject) -> str | None:
    options = _options(subject)
    headers = {**options.authorization(), "Content-Type": messages.MEDIA_TYPE}
    with _client(options) as http:
        answer = http.post(messages.CALLS + "match", content=b"conformance", headers=headers)
    status = answer.status_code
    return f"it got the status {status}" if status < httpx2.codes.BAD_REQUEST else None


@TRANSPORT.check("state the model in every answer of `score`, for any people")
def scores_say_their_model(subject: Subject) -> str | None:
    options, scores = _options(subject), subject.platform.scores
    if scores is None:
        raise NotApplicableError("there are no scores")
    ask = {"content": encode_content(TRIAL), "context": subject.context}
    persons, digest = subject.people(), scores.model_digest
    alone = [persons[index : index + 1] for index in range(min(_ALONE, len(persons)))]
    headers = {**options.authorization(), "Content-Type": messages.MEDIA_TYPE}
    with _client(options) as http:
        for some in (persons[:0], persons, *alone):
            body = b"".join(messages.write(messages.Message(pa.table({"person": some}), ask)))
            answer = http.post(messages.CALLS + "score", content=body, headers=headers)
            said = messages.read(BytesIO(answer.content)).model_digest or ""
            if not DIGEST.fullmatch(said):
                return f"an answer about {len(some)} people has no model_digest"
            if said != digest:
                return f"an answer about {len(some)} people states another model"
    return None


def _options(subject: Subject) -> AdapterClientOptions:
    if subject.connection is None:
        raise NotApplicableError("it is not reached over HTTP")
    return subject.connection


def _client(options: AdapterClientOptions) -> httpx2.Client:
    timeout = httpx2.Timeout(options.call_seconds, connect=options.connect_seconds)
    return httpx2.Client(
        base_url=options.url, verify=options.tls(), timeout=timeout, trust_env=False
    )
