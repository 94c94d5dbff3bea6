"""Access tokens of this service: issued, read and validated.

[RFC9068] JWT profile for access tokens, §2.2 claims, §4 validation.
"""

import secrets
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from joserfc import jwt
from joserfc.errors import ExpiredTokenError, JoseError
from joserfc.jwk import OKPKey

from api.db import Store
from api.identity.caller import Caller, Credential, load_caller_of_token
from api.identity.jwt_parsing import Compact, CompactError, parse
from api.identity.signing_keys import ALGORITHM, CLOCK_SKEW, TOKEN_LIFETIME, SigningKeys
from api.kernel.clock import now
from api.kernel.errors import UnauthenticatedError

TYPE = "at+jwt"

_NEEDED: jwt.ClaimsOption = {"essential": True}
# Number of tokens whose verified signature is cached.
_KEPT = 4_096


class OwnTokens:
    """Access tokens that this service issues for itself."""

    def __init__(self, store: Store, keys: SigningKeys, issuer: str) -> None:
        self._store = store
        self._keys = keys
        self._issuer = issuer
        # A signature stays valid, so it is cached. Revocation and expiry are checked at every use.
        self._signed = lru_cache(maxsize=_KEPT)(self._verified)

    def issue(self, researcher_id: str, scope: str) -> str:
        key = self._keys.current("access-token")
        issued_at = int(now().timestamp())
        claims = {
            "iss": self._issuer,
            "aud": self._issuer,
            "sub": researcher_id,
            "client_id": researcher_id,
            "scope": scope,
            "iat": issued_at,
            "exp": issued_at + int(TOKEN_LIFETIME.total_seconds()),
            "jti": secrets.token_urlsafe(16),
        }
        header = {"typ": TYPE, "alg": ALGORITHM, "kid": key.kid}
        return jwt.encode(header, claims, key, algorithms=(ALGORITHM,))

    def read(self, bearer: str) -> dict[str, Any]:
        """Return the claims of a token that this service signed and that has not expired."""
        token = self._signed(bearer)
        self._key_of(token)  # the key may have been retired since
        self._validate(token)
        return dict(token.claims)

    def authenticate(self, bearer: str) -> Caller:
        claims = self.read(bearer)
        with self._store.autocommit_connection() as connection:
            caller, revoked = load_caller_of_token(connection, claims["sub"], claims["jti"])
        if revoked:
            raise UnauthenticatedError("The access token was revoked. Request a new one.")
        if caller is None:
            raise UnauthenticatedError("The researcher of this token is no longer registered.")
        if caller.role != claims["scope"]:
            raise UnauthenticatedError("The researcher's role changed. Request a new token.")
        until = datetime.fromtimestamp(claims["exp"], UTC)
        return replace(caller, credential=Credential(until, token=claims["jti"]))

    def _verified(self, bearer: str) -> Compact:
        """Return a token with a verified signature, which never changes and may be cached."""
        try:
            token = parse(bearer)
        except CompactError as error:
            raise UnauthenticatedError("The access token is malformed.") from error
        if token.typ != TYPE:
            raise UnauthenticatedError("This is not an access token: its type is not at+jwt.")
        try:
            token.verify(self._key_of(token), (ALGORITHM,))
        except CompactError as error:
            raise UnauthenticatedError("The access token's signature is wrong.") from error
        return token

    def _key_of(self, token: Compact) -> OKPKey:
        """Return the key that the token names, if it is still in use."""
        key = self._keys.verifying("access-token", token.kid) if token.kid else None
        if key is None:
            raise UnauthenticatedError("The access token is signed with a key that is not in use.")
        return key

    def _validate(self, token: Compact) -> None:
        registry = jwt.JWTClaimsRegistry(
            leeway=int(CLOCK_SKEW.total_seconds()),
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": self._issuer},
            sub=_NEEDED,
            scope=_NEEDED,
            iat=_NEEDED,
            exp=_NEEDED,
            jti=_NEEDED,
        )
        _check(registry, token.claims)
        # The clocks of our processes may differ on `iat`; that does not extend the lifetime.
        if token.claims["exp"] <= now().timestamp():
            raise UnauthenticatedError("The access token has expired. Request a new one.")


def _check(registry: jwt.JWTClaimsRegistry, claims: dict[str, Any]) -> None:
    try:
        registry.validate(claims)
    except ExpiredTokenError as error:
        raise UnauthenticatedError("The access token has expired. Request a new one.") from error
    except JoseError as error:
        raise UnauthenticatedError("The access token is not meant for this service.") from error
