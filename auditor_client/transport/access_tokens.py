"""Access tokens by client credentials with a signed assertion (RFC 6749 §4.4, RFC 7523 §2.2).

A token is used until shortly before it expires; the first thread that needs another renews it. If
the service refuses a token (revoked, or its key rotated), the client renews it once and sends the
request again.
"""

import secrets
import time
from collections.abc import Generator
from threading import Lock

import httpx2
from joserfc import jwt
from joserfc.jwk import OKPKey
from pydantic import BaseModel, ConfigDict

from auditor_client.errors import AuthenticationError, ProblemError
from auditor_client.transport.http_client import Transport, parse_answer
from openapi.problems import problem

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ASSERTION_SECONDS = 60
RENEW_BEFORE = 30.0


class ServerMetadata(BaseModel):
    """The fields of RFC 8414 metadata that this client needs."""

    model_config = ConfigDict(frozen=True)

    issuer: str
    token_endpoint: str
    jwks_uri: str


class Token(BaseModel):
    model_config = ConfigDict(frozen=True)

    access_token: str
    expires_in: float = 600


class Tokens(httpx2.Auth):
    """Authentication of every request with a valid token."""

    def __init__(self, public: Transport, researcher_id: str, key: OKPKey) -> None:
        self._public = public
        self._researcher_id = researcher_id
        self._key = key
        self._lock = Lock()
        self._metadata: ServerMetadata | None = None
        self._token: Token | None = None
        self._renew_at = 0.0

    def use(self, key: OKPKey) -> None:
        """Request tokens with this key from now on."""
        with self._lock:
            self._key, self._token = key, None

    def sync_auth_flow(
        self, request: httpx2.Request
    ) -> Generator[httpx2.Request, httpx2.Response, None]:
        token = self.current()
        request.headers["authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            request.headers["authorization"] = f"Bearer {self.current(refused=token)}"
            yield request

    def current(self, refused: str | None = None) -> str:
        """Return a token that is not about to expire and was not just refused."""
        with self._lock:
            token = self._token
            if token is None or token.access_token == refused or time.monotonic() > self._renew_at:
                token = self._ask()
                life = token.expires_in
                self._renew_at = time.monotonic() + life - min(RENEW_BEFORE, life / 2)
                self._token = token
            return token.access_token

    def metadata(self) -> ServerMetadata:
        if self._metadata is None:
            path = "/.well-known/oauth-authorization-server"
            self._metadata = self._public.get(path, ServerMetadata)
        return self._metadata

    def _ask(self) -> Token:
        endpoint = self.metadata().token_endpoint

        def ask() -> httpx2.Response:
            # Each assertion is new: a service refuses a `jti` that it has seen.
            return self._public.once("POST", endpoint, data=self._form(endpoint))

        try:
            return parse_answer(Token, self._public.attempt(ask, retry_idempotently=True))
        except ProblemError as error:
            # RFC 6749 errors are not RFC 9457 problems: they have these two members, with status
            # 400 or 401.
            if error.code in ("invalid-request", "unauthenticated"):
                detail = f"{self._public.url} does not accept {self._researcher_id} with this key"
                raise AuthenticationError(problem("unauthenticated", detail)) from error
            raise

    def _form(self, endpoint: str) -> dict[str, str]:
        now = int(time.time())
        claims = {
            "iss": self._researcher_id,
            "sub": self._researcher_id,
            "aud": endpoint,
            "jti": secrets.token_urlsafe(24),
            "iat": now,
            "exp": now + ASSERTION_SECONDS,
        }
        header = {"alg": "Ed25519", "kid": self._key.thumbprint()}
        return {
            "grant_type": "client_credentials",
            "client_assertion_type": ASSERTION_TYPE,
            "client_assertion": jwt.encode(header, claims, self._key, algorithms=["Ed25519"]),
        }
