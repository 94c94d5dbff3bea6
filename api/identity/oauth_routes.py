"""OAuth 2: token, revocation, metadata and keys.

Errors of the two form endpoints are those of RFC 6749, not problem documents, because OAuth
libraries read them.
"""

from collections.abc import Callable
from typing import Any

from authlib.oauth2.rfc6749 import InvalidRequestError, OAuth2Error
from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from api.identity.authorization_server import OAuthAnswer, TokenServer, refusal
from api.identity.metadata import JWKS_PATH, METADATA_PATH, REVOCATION_PATH, TOKEN_PATH
from api.identity.oauth_forms import MAX_BYTES, MEDIA_TYPE, parse_form
from api.identity.oauth_messages import (
    AccessToken,
    KeySet,
    Metadata,
    OAuthError,
    RevocationRequest,
    Revoked,
    TokenRequest,
)
from api.identity.roles import AuthDep
from api.identity.wiring import Auth
from api.kernel.errors import NotFoundError
from api.web.routing import router as new_router
from openapi.problems import Problem

router = new_router(tags=["OAuth 2"])

PUBLIC = {"Cache-Control": "public, max-age=60"}


def _form_of(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    return {"requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": schema}}}}


_NO_SERVER: dict[int | str, dict[str, Any]] = {
    404: {
        "description": "Tokens of an outside issuer are accepted instead.",
        "content": {"application/problem+json": {"schema": Problem.model_json_schema()}},
    },
}
_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": OAuthError, "description": "The request or the client was refused."},
    401: {"model": OAuthError, "description": "Clients authenticate by private_key_jwt."},
    413: {"model": OAuthError, "description": "The body is over 64 kB."},
    **_NO_SERVER,
}


@router.post(
    TOKEN_PATH,
    response_model=AccessToken,
    responses=_ERRORS,
    openapi_extra=_form_of(TokenRequest),
)
async def issue_token(request: Request, auth: AuthDep) -> JSONResponse:
    """Exchange a signed assertion for an access token of ten minutes."""
    return await _answer(request, _server(auth).issue)


@router.post(
    REVOCATION_PATH,
    response_model=Revoked,
    responses=_ERRORS,
    openapi_extra=_form_of(RevocationRequest),
)
async def revoke_token(request: Request, auth: AuthDep) -> JSONResponse:
    """Revoke one of your own access tokens; an unknown token is not an error (RFC 7009)."""
    return await _answer(request, _server(auth).revoke)


@router.get(METADATA_PATH, response_model=Metadata, responses=_NO_SERVER)
def get_oauth_metadata(auth: AuthDep) -> JSONResponse:
    """Return the metadata of this authorisation server (RFC 8414)."""
    return JSONResponse(_server(auth).metadata, headers=PUBLIC)


@router.get(JWKS_PATH, response_model=KeySet)
def get_signing_keys(auth: AuthDep) -> JSONResponse:
    """Return the public keys that verify access tokens and receipts, including retired ones."""
    return JSONResponse(auth.keys.published(), headers=PUBLIC)


def _server(auth: Auth) -> TokenServer:
    if auth.server is None:
        raise NotFoundError("This service issues no tokens: it accepts those of an outside issuer.")
    return auth.server


async def _answer(
    request: Request, answer: Callable[[dict[str, str], str | None], OAuthAnswer]
) -> JSONResponse:
    """Read the form, up to its size limit, and answer it in a thread: Authlib is synchronous."""
    try:
        body = await _bounded_body(request)
        fields = parse_form(body, request.headers.get("content-type", ""))
    except OAuth2Error as error:
        return _respond(refusal(error))
    authorization = request.headers.get("authorization")
    return _respond(await run_in_threadpool(answer, fields, authorization))


async def _bounded_body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise InvalidRequestError("The body is over 64 kB.", status_code=413)
    return bytes(body)


def _respond(answer: OAuthAnswer) -> JSONResponse:
    headers = {name: text for name, text in answer.headers.items() if name != "Content-Type"}
    return JSONResponse(answer.body, status_code=answer.status, headers=headers)
