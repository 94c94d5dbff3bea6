"""Responses for errors, as RFC 9457 problems: the only place where errors become responses."""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from api.db import UNAVAILABLE
from api.kernel.errors import (
    ApiError,
    InvalidRequestError,
    MalformedBodyError,
    RateLimitedError,
    RequestTimeoutError,
    TooLargeError,
    UnavailableError,
    UnsupportedMediaTypeError,
)
from api.platforms.fault_isolation import PlatformDownError
from openapi.complaints import what_is_wrong, where_it_is
from openapi.problems import TABLE, Problem, problem

MEDIA_TYPE = "application/problem+json"
# Statuses that Starlette raises by itself.
_BY_STATUS = {404: "not-found", 405: "method-not-allowed", 406: "not-acceptable"}

log = logging.getLogger(__name__)


def respond(error: ApiError, instance: str | None = None) -> Response:
    return _response(error.problem(instance), error.headers)


def database_unavailable(error: Exception) -> UnavailableError:
    """Log that the database does not answer, and return the refusal."""
    cause = getattr(error, "orig", None) or error
    log.error("database.unavailable", extra={"error": type(cause).__name__})
    return UnavailableError(
        "The database does not answer. Nothing was lost. Try again.", headers={"Retry-After": "2"}
    )


def install(app: FastAPI) -> None:
    """Answer every error of ours, of the framework and of the database with a problem."""

    @app.exception_handler(ApiError)
    def ours(request: Request, error: ApiError) -> Response:
        return respond(error, request.url.path)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        return respond(_invalid(request, error), request.url.path)

    @app.exception_handler(HTTPException)
    def framework(request: Request, error: HTTPException) -> Response:
        # our own error, raised while the body streamed in
        if isinstance(error.__cause__, ApiError):
            return respond(error.__cause__, request.url.path)
        code = _BY_STATUS.get(error.status_code, "malformed-body")
        shown = problem(code, str(error.detail), request.url.path)
        return _response(shown, error.headers or {})

    @app.exception_handler(PlatformDownError)
    def down(request: Request, _: PlatformDownError) -> Response:
        log.error("platform.unavailable")
        gone = UnavailableError(
            "The platform does not answer. Try again.",
            headers={"Retry-After": "5"},
        )
        return respond(gone, request.url.path)

    for unavailable in UNAVAILABLE:
        app.add_exception_handler(unavailable, _database_gone)

    @app.exception_handler(DataError)
    def unstorable(request: Request, _: DataError) -> Response:
        # PostgreSQL has no NUL in text; everything else was checked before.
        refused = InvalidRequestError(
            "A text has a character that cannot be stored (NUL). Nothing was stored."
        )
        return respond(refused, request.url.path)

    app.add_exception_handler(ClientDisconnect, _client_gone)

    @app.exception_handler(Exception)
    def unexpected(request: Request, error: Exception) -> Response:
        log.error("request.failed", exc_info=error)
        return respond(ApiError("An unexpected error occurred, and was logged."), request.url.path)


def _database_gone(request: Request, error: Exception) -> Response:
    return respond(database_unavailable(error), request.url.path)


def _client_gone(_: Request, __: Exception) -> Response:
    return Response(status_code=400)  # nobody receives it


def responses(*errors: type[ApiError], body: bool = False) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a route's problems; `body` if the route reads JSON."""
    by_status: dict[int, list[str]] = {}
    # Any request may be shed.
    shed = (RateLimitedError, UnavailableError)
    named: tuple[type[ApiError], ...] = (*errors, InvalidRequestError, *shed)
    if body:
        named += (
            MalformedBodyError,
            RequestTimeoutError,
            TooLargeError,
            UnsupportedMediaTypeError,
        )
    for code in dict.fromkeys(error.code for error in named):
        by_status.setdefault(TABLE[code][0], []).append(code)
    return {
        status: {
            "model": Problem,
            "description": "; ".join(f"`{code}`: {TABLE[code][1]}" for code in codes),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, codes in by_status.items()
    }


def _invalid(request: Request, error: RequestValidationError) -> ApiError:
    found = error.errors()
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    unread = any(item["loc"] == ("body",) and item["type"] != "missing" for item in found)
    if unread and sent != "application/json":
        return UnsupportedMediaTypeError(
            "Send a body of type application/json. Nothing was charged."
        )
    if any(item["type"] == "json_invalid" for item in found):
        return MalformedBodyError("The body is not valid JSON. Nothing was charged.")
    errors = [{"at": where_it_is(item), "message": what_is_wrong(item)} for item in found[:20]]
    first = f"{errors[0]['at']}: {errors[0]['message']}"
    return InvalidRequestError(f"{first}. Nothing was charged.", errors=errors)


def _response(shown: Problem, headers: Mapping[str, str]) -> Response:
    body = shown.model_dump_json(exclude_none=True)
    return Response(body, shown.status, dict(headers), MEDIA_TYPE)
