"""Server of an adapter: any `Platform` in Python, served over HTTP.

It is for tests, and a model for adapters in other languages. An error is a bare status: its cause
is in the log of this side and is not sent to the service.
"""

import hmac
import logging
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from api.platforms.http import messages
from api.platforms.http.content_json import decode_content
from api.platforms.http.messages import Message, WireError
from api.platforms.http.public_facts import state_facts
from api.platforms.interfaces import Persons, Platform
from api.telemetry.metrics import adapter_call

log = logging.getLogger(__name__)

Answered = Message | tuple[Message, Iterator[pa.RecordBatch]]
Call = Callable[[Platform, Mapping[str, Any], pa.Table], Answered]
_MAX_BYTES = 256 << 20


def served(platform: Platform, token: SecretStr | None = None) -> Starlette:
    """Return an ASGI application; with a token, requests without it are refused."""

    async def facts(request: Request) -> Response:
        if not _is_authorized(request, token):
            return Response(status_code=401)
        try:
            found = await run_in_threadpool(state_facts, platform)
        except Exception:
            log.exception("adapter.error")
            return Response(status_code=503)
        return JSONResponse(found.model_dump(mode="json", exclude_none=True))

    async def call(request: Request) -> Response:
        if not _is_authorized(request, token):
            return Response(status_code=401)
        name = request.path_params["call"]
        if name not in CALLS:
            return Response(status_code=404)
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MAX_BYTES:
                return Response(status_code=413)
        return await run_in_threadpool(_answer, name, platform, bytes(body))

    calls = Route(messages.CALLS + "{call}", call, methods=["POST"])
    return Starlette(routes=[Route(messages.FACTS, facts), calls])


def _answer(name: str, platform: Platform, body: bytes) -> Response:
    try:
        with adapter_call(name):
            message = messages.read(BytesIO(body))
            answered = CALLS[name](platform, message.ask, message.columns)
    except (WireError, KeyError, TypeError) as error:
        log.warning("adapter.refused", extra={"error": type(error).__name__})
        return Response(status_code=422)
    except Exception:
        log.exception("adapter.error")
        return Response(status_code=500)
    message, batches = answered if isinstance(answered, tuple) else (answered, None)
    return StreamingResponse(messages.write(message, batches), media_type=messages.MEDIA_TYPE)


def _match(platform: Platform, ask: Mapping[str, Any], columns: pa.Table) -> Answered:
    identifiers = columns["identifier"].combine_chunks()
    return _persons(platform.people.match(ask["kind"], identifiers))


def _sample(platform: Platform, ask: Mapping[str, Any], _: pa.Table) -> Answered:
    rng = np.random.default_rng(int(ask["seed"], 16))
    drawn = platform.people.sample(ask["attribute"], ask["sizes"], rng)
    values = np.repeat(list(drawn), [len(persons) for persons in drawn.values()])
    persons = np.concatenate([*drawn.values(), np.empty(0, np.int64)])
    return Message(pa.table({"value": pa.array(values, pa.string()), "person": persons}))


def _confirmed(platform: Platform, ask: Mapping[str, Any], _: pa.Table) -> Answered:
    return _persons(platform.people.confirmed(ask["code"]))


def _score(platform: Platform, ask: Mapping[str, Any], columns: pa.Table) -> Answered:
    if platform.scores is None:
        raise KeyError("scores")
    content = decode_content(ask["content"])
    scores = platform.scores.score(content, _numbers(columns, "person"), ask["context"])
    table = pa.table({"score": pa.array(np.asarray(scores, np.float64))})
    return Message(table, model_digest=platform.scores.model_digest)


def _read(platform: Platform, ask: Mapping[str, Any], columns: pa.Table) -> Answered:
    if platform.logs is None:
        raise KeyError("logs")
    batches = iter(platform.logs.read(ask["log"], _numbers(columns, "person"), ask["columns"]))
    first = next(batches, None)
    if first is None:
        return Message(pa.table({name: pa.nulls(0) for name in ("person", *ask["columns"])}))
    return Message(first.schema.empty_table()), _continue_stream(first, batches)


def _continue_stream(
    first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest


def _consenting(platform: Platform, _: Mapping[str, Any], columns: pa.Table) -> Answered:
    if platform.policies is None:
        raise KeyError("policies")
    return Message(
        pa.table({"consents": platform.policies.consenting(_numbers(columns, "person"))})
    )


def _rewards(platform: Platform, ask: Mapping[str, Any], columns: pa.Table) -> Answered:
    if platform.policies is None:
        raise KeyError("policies")
    shown = (_numbers(columns, name) for name in ("target", "arm", "step"))
    return Message(pa.table({"reward": platform.policies.rewards(ask["course"], *shown)}))


def _held(platform: Platform, ask: Mapping[str, Any], _: pa.Table) -> Answered:
    if platform.directory is None:
        raise KeyError("directory")
    persons, identifiers = platform.directory.held(ask["kind"])
    return Message(pa.table({"person": persons, "identifier": identifiers}))


CALLS: Mapping[str, Call] = {
    "match": _match,
    "sample": _sample,
    "confirmed": _confirmed,
    "score": _score,
    "read": _read,
    "consenting": _consenting,
    "rewards": _rewards,
    "held": _held,
}


def _is_authorized(request: Request, token: SecretStr | None) -> bool:
    if token is None:
        return True
    wanted = f"Bearer {token.get_secret_value()}".encode()
    return hmac.compare_digest(request.headers.get("authorization", "").encode(), wanted)


def _numbers(columns: pa.Table, name: str) -> Persons:
    return np.asarray(columns[name], np.int64)


def _persons(persons: Persons) -> Message:
    return Message(pa.table({"person": pa.array(np.asarray(persons, np.int64))}))
