"""Authorisation server: client credentials with signed assertions, and no other grant.

Authlib's core without a web framework: it takes a `FormPost` and returns an `OAuthAnswer`. It is
synchronous, and reads and writes the database.

[RFC6749] §4.4 client credentials, §5.2 errors. [RFC7521] §4.2 client assertions.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from authlib.oauth2.rfc6749 import (
    AuthorizationServer,
    ClientCredentialsGrant,
    InvalidClientError,
    InvalidRequestError,
    OAuth2Error,
)
from authlib.oauth2.rfc6750 import BearerTokenGenerator

from api.db import Store
from api.identity.access_tokens import OwnTokens
from api.identity.assertions import SignedAssertion
from api.identity.metadata import AUTH_METHOD, SCOPES, metadata, require_https
from api.identity.oauth_clients import Client, find_client
from api.identity.oauth_forms import FormPost, FormRequest
from api.identity.revocation import Revocation
from api.identity.signing_keys import TOKEN_LIFETIME


@dataclass(frozen=True)
class OAuthAnswer:
    status: int
    body: dict[str, Any]
    headers: dict[str, str]


class Grant(ClientCredentialsGrant):  # type: ignore[misc]
    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar[list[str]] = [AUTH_METHOD]

    def create_token_response(self) -> tuple[int, dict[str, Any], list[tuple[str, str]]]:
        """Return the response as Authlib does, but without writing the token to its debug log."""
        scope = self.request.payload.scope
        token = self.generate_token(scope=scope, include_refresh_token=False)
        return 200, token, self.TOKEN_RESPONSE_HEADER


class TokenServer(AuthorizationServer):  # type: ignore[misc]
    """Server that issues and revokes our own access tokens."""

    def __init__(self, store: Store, tokens: OwnTokens, issuer: str) -> None:
        require_https(issuer, "issuer")
        super().__init__(scopes_supported=list(SCOPES))
        self.metadata = metadata(issuer)
        self._store = store
        audiences = frozenset({issuer, self.metadata["token_endpoint"]})
        self.register_client_auth_method(AUTH_METHOD, SignedAssertion(store, audiences))
        self.register_grant(Grant)
        self.register_token_generator("default", _generator(tokens))
        self.register_endpoint(Revocation(store, tokens))

    def issue(self, fields: dict[str, str], authorization: str | None) -> OAuthAnswer:
        post = FormPost(self.metadata["token_endpoint"], authorization, fields)
        if "grant_type" not in fields:
            return refusal(InvalidRequestError("The parameter grant_type is missing."))
        answer: OAuthAnswer = self.create_token_response(post)
        return answer

    def revoke(self, fields: dict[str, str], authorization: str | None) -> OAuthAnswer:
        post = FormPost(self.metadata["revocation_endpoint"], authorization, fields)
        answer: OAuthAnswer = self.create_endpoint_response(Revocation.ENDPOINT_NAME, post)
        return answer

    def authenticate_client(
        self, request: FormRequest, methods: list[str], endpoint: str = "token"
    ) -> Client:
        if "Authorization" in request.headers:
            raise InvalidClientError(f"Clients authenticate by {AUTH_METHOD}.", status_code=401)
        client: Client = super().authenticate_client(request, methods, endpoint)
        # [RFC7521, §4.2] client_id is unnecessary, but must name the same client if present.
        if request.payload.client_id not in {None, client.researcher_id}:
            raise InvalidClientError("The client_id is not the subject of the assertion.")
        return client

    def query_client(self, client_id: str) -> Client | None:
        return find_client(self._store, client_id)

    def create_oauth2_request(self, request: FormPost) -> FormRequest:
        return FormRequest(request)

    def handle_response(
        self, status: int, body: dict[str, Any], headers: list[tuple[str, str]]
    ) -> OAuthAnswer:
        return OAuthAnswer(status, body, dict(headers))

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Do nothing: there are no subscribers."""


def refusal(error: OAuth2Error, status: int | None = None) -> OAuthAnswer:
    """Return an RFC 6749 error for a request that never reached the server."""
    own_status, body, headers = error()
    return OAuthAnswer(status or own_status, body, dict(headers))


def _generator(tokens: OwnTokens) -> BearerTokenGenerator:
    def access_token(client: Client, scope: str, **_: Any) -> str:
        return tokens.issue(client.researcher_id, scope)

    lifetime = int(TOKEN_LIFETIME.total_seconds())
    return BearerTokenGenerator(access_token, expires_generator=lambda *_: lifetime)
