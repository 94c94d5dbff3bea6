"""Revocation of an access token before it expires.

[RFC7009] token revocation, §2.1: a client revokes its own tokens, and an unknown token is no error.
"""

from datetime import UTC, datetime
from typing import Any

from authlib.oauth2.rfc6749 import InvalidRequestError
from authlib.oauth2.rfc7009 import RevocationEndpoint
from sqlalchemy.exc import IntegrityError

from api.db import RevokedTokenRow, Store
from api.identity.access_tokens import OwnTokens
from api.identity.metadata import AUTH_METHOD
from api.identity.oauth_clients import Client
from api.identity.oauth_forms import FormRequest
from api.identity.signing_keys import CLOCK_SKEW
from api.kernel.errors import UnauthenticatedError


class Issued(dict[str, Any]):
    """Claims of one of our tokens, with the check that Authlib calls."""

    def check_client(self, client: Client) -> bool:
        return bool(self["client_id"] == client.researcher_id)


class Revocation(RevocationEndpoint):  # type: ignore[misc]
    CLIENT_AUTH_METHODS = (AUTH_METHOD,)

    def __init__(self, store: Store, tokens: OwnTokens) -> None:
        super().__init__()
        self._store = store
        self._tokens = tokens

    def check_params(self, request: FormRequest, client: Client) -> None:
        """Accept any hint: there is only one type of token here  [RFC7009, §2.1]."""
        if "token" not in request.form:
            raise InvalidRequestError("The parameter token is missing.")

    def query_token(self, token: str, hint: str | None) -> Issued | None:
        try:
            return Issued(self._tokens.read(token))
        except UnauthenticatedError:
            return None

    def revoke_token(self, token: Issued, request: FormRequest) -> None:
        kept_until = datetime.fromtimestamp(token["exp"], UTC) + CLOCK_SKEW
        try:
            with self._store.write() as session:
                session.add(RevokedTokenRow(jti=token["jti"], expires_at=kept_until))
        except IntegrityError:
            return  # revoked before
