"""Client authentication by a signed assertion, which works once.

[RFC7523] JWT client authentication, §3 contents of an assertion. `private_key_jwt` only.
"""

import math
import re
from datetime import UTC, datetime
from typing import Any

from authlib.oauth2.rfc6749 import InvalidClientError
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import Key
from sqlalchemy.exc import IntegrityError

from api.db import Store, UsedAssertionRow
from api.identity.jwt_parsing import CompactError, parse
from api.identity.key_policy import algorithms_of, import_public_jwk
from api.identity.metadata import AUTH_METHOD
from api.identity.oauth_clients import Client
from api.identity.signing_keys import CLOCK_SKEW
from api.kernel.clock import now

MAX_LIFETIME = 300
LEEWAY = int(CLOCK_SKEW.total_seconds())

_NEEDED: jwt.ClaimsOption = {"essential": True}

# Printable, so that every database can store it, and long enough for a nonce.
_JTI = re.compile(r"[\x21-\x7e]{8,200}")


class SignedAssertion(JWTBearerClientAssertion):  # type: ignore[misc]
    """Authlib's validation, with named algorithms, a short lifetime and single use."""

    CLIENT_AUTH_METHOD = AUTH_METHOD

    def __init__(self, store: Store, audiences: frozenset[str]) -> None:
        super().__init__(validate_jti=True, leeway=LEEWAY)
        self._store = store
        self._audiences = audiences

    def get_audiences(self) -> list[str]:
        return sorted(self._audiences)

    def extract_assertion(self, assertion: str) -> tuple[dict[str, Any], dict[str, Any]]:
        try:
            token = parse(assertion)
        except CompactError as error:
            raise InvalidClientError("The client assertion is not a signed JWT.") from error
        return token.header, token.claims

    def resolve_client_public_key(self, client: Client) -> Key:
        return import_public_jwk(client.jwk)

    def process_assertion_claims(self, assertion: str, resolve_key: Key) -> dict[str, Any]:
        token = parse(assertion)
        try:
            token.verify(resolve_key, algorithms_of(resolve_key))
        except CompactError as error:
            raise InvalidClientError(
                "The client assertion is not signed with the registered key and its algorithm."
            ) from error
        self.verify_claims(token.claims)
        return token.claims

    def verify_claims(self, claims: dict[str, Any]) -> None:
        registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss=_NEEDED,
            sub=_NEEDED,
            aud={"essential": True, "values": self.get_audiences()},
            exp=_NEEDED,
            jti=_NEEDED,
        )
        try:
            registry.validate(claims)
        except JoseError as error:
            raise InvalidClientError(_reason(error)) from error
        self._check_ours(claims)
        if not self.validate_jti(claims, claims["jti"]):
            raise InvalidClientError("The client assertion was used before: sign a new one.")

    def _check_ours(self, claims: dict[str, Any]) -> None:
        if claims["iss"] != claims["sub"]:
            raise InvalidClientError("The client assertion's iss and sub must both be the client.")
        # An assertion that another server accepts too could be replayed here by that server.
        if isinstance(claims["aud"], list) and not self._audiences.issuperset(claims["aud"]):
            raise InvalidClientError("The client assertion is addressed to another server too.")
        if claims["exp"] > now().timestamp() + MAX_LIFETIME + LEEWAY:
            raise InvalidClientError("The client assertion must expire within 5 minutes.")
        if not _JTI.fullmatch(claims["jti"]):
            raise InvalidClientError("The client assertion's jti must be 8 to 200 characters.")

    def validate_jti(self, claims: dict[str, Any], jti: str) -> bool:
        """Return whether this is the first request with the assertion, by inserting it."""
        # Kept beyond the last time at which a process with a slow clock would accept it.
        kept_until = datetime.fromtimestamp(math.ceil(claims["exp"]) + 2 * LEEWAY, UTC)
        try:
            with self._store.write() as session:
                session.add(
                    UsedAssertionRow(researcher_id=claims["sub"], jti=jti, expires_at=kept_until)
                )
        except IntegrityError:
            return False
        return True


def _reason(error: JoseError) -> str:
    """Return the reason of the refusal, in the characters that RFC 6749 allows."""
    text = re.sub(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]", "?", error.description)
    return f"The client assertion was refused: {text}."
