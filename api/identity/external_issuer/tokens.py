"""Access tokens of an outside issuer, instead of our own.

The issuer states who the caller is; the caller's role here states what they may do. Providers
differ on the token's type, so `JWT` and no type are accepted like `at+jwt`. The audience excludes
tokens for other services. A token without `at+jwt` may be an ID token. It is refused if it has
claims of one, or if it is for the client that browsers sign in with. If that client is not known,
the token must have a claim that only access tokens have.

[OIDC] OpenID Connect Core 1.0, §2 and §3.3.2.11 (`nonce`, `at_hash`, `c_hash`). [RFC9068] §2.2
claims (`client_id`, `scope`), §4 validation. [RFC8725] §3.11 explicit typing. [RFC9449] §7.2: a
token that is bound to a key is not a bearer token.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from joserfc import jwt
from joserfc.errors import ExpiredTokenError, JoseError

from api.db import Store
from api.identity.caller import Caller, Credential, load_caller_of_subject
from api.identity.external_issuer.jwks import OutsideKeys
from api.identity.jwt_parsing import CompactError, parse
from api.identity.key_policy import ALGORITHMS
from api.identity.signing_keys import CLOCK_SKEW
from api.kernel.errors import UnauthenticatedError
from api.kernel.settings import OutsideIssuer

TYPES = frozenset({"at+jwt", "jwt", ""})
MAX_SUBJECT = 200
_ID_TOKEN_CLAIMS = frozenset({"nonce", "at_hash", "c_hash", "s_hash"})
# Microsoft's issuers call `scope` `scp`.
_ACCESS_TOKEN_CLAIMS = frozenset({"client_id", "scope", "scp"})

_SAFE = frozenset(name for names in ALGORITHMS.values() for name in names)


# A later expiry cannot be a date.
_LAST_EXPIRY = datetime(9999, 1, 1, tzinfo=UTC)


class OutsideTokens:
    """Tokens of one trusted issuer, whose subjects are mapped to registered researchers."""

    def __init__(self, store: Store, issuer: OutsideIssuer) -> None:
        if not issuer.algorithms or not _SAFE.issuperset(issuer.algorithms):
            raise ValueError(f"outside_issuer.algorithms must be among {sorted(_SAFE)}")
        self._store = store
        self._issuer = issuer
        self._keys = OutsideKeys(issuer)

    def authenticate(self, bearer: str) -> Caller:
        claims = self._read(bearer)
        subject = self._subject(claims)
        with self._store.read() as session:
            caller = load_caller_of_subject(session, subject)
        if caller is None:
            raise UnauthenticatedError(
                "The token is valid, but its subject is not registered here. Contact the operator."
            )
        return replace(caller, credential=Credential(_end(claims["exp"])))

    def _read(self, bearer: str) -> dict[str, Any]:
        try:
            token = parse(bearer)
        except CompactError as error:
            raise UnauthenticatedError("The access token is malformed.") from error
        if token.typ not in TYPES or "cnf" in token.claims:
            raise UnauthenticatedError("This is not a bearer access token.")
        if token.typ != "at+jwt" and self._is_id_token(token.claims):
            raise UnauthenticatedError("This is an ID token. Send the access token instead.")
        # Claims are checked before any key: a stranger's token must not cause a request to the
        # issuer.
        self._validate(token.claims)
        key = self._keys.find(token.kid)
        if key is None:
            raise UnauthenticatedError("The access token is signed with a key that is not in use.")
        try:
            token.verify(key, self._issuer.algorithms)
        except CompactError as error:
            raise UnauthenticatedError("The access token's signature is wrong.") from error
        return token.claims

    def _validate(self, claims: dict[str, Any]) -> None:
        registry = jwt.JWTClaimsRegistry(
            leeway=int(CLOCK_SKEW.total_seconds()),
            iss={"essential": True, "value": self._issuer.issuer},
            aud={"essential": True, "value": self._issuer.audience},
            exp={"essential": True},
        )
        try:
            registry.validate(claims)
        except ExpiredTokenError as error:
            raise UnauthenticatedError(
                "The access token has expired. Request a new one."
            ) from error
        except JoseError as error:
            raise UnauthenticatedError(
                f"The access token was not issued by {self._issuer.issuer} for this service."
            ) from error

    def _is_id_token(self, claims: dict[str, Any]) -> bool:
        """Return whether a token states who signed in, instead of what they may access.  [OIDC]"""
        if not _ID_TOKEN_CLAIMS.isdisjoint(claims) or claims.get("typ") == "ID":  # Keycloak
            return True
        if self._issuer.sign_in is None:
            return _ACCESS_TOKEN_CLAIMS.isdisjoint(claims)
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        return self._issuer.sign_in.client_id in audiences

    def _subject(self, claims: dict[str, Any]) -> str:
        subject = claims.get(self._issuer.claim)
        if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT:
            raise UnauthenticatedError(f"The access token lacks the claim {self._issuer.claim}.")
        if not subject.isprintable():
            raise UnauthenticatedError(f"The access token's {self._issuer.claim} is malformed.")
        return subject


def _end(expiry: float) -> datetime:
    """Return the end of a token from its `exp` claim, which an issuer may set to any late date."""
    return datetime.fromtimestamp(min(expiry, _LAST_EXPIRY.timestamp()), UTC) + CLOCK_SKEW
