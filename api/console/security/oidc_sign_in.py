"""Sign-in at an outside identity provider: OIDC authorisation code with PKCE.

[OIDC] OpenID Connect Core 1.0, §3.1.2 the request, §3.1.3.7 contents of an ID token. [RFC7636]
PKCE, always S256. [RFC9207] the issuer in the answer, if it is there.
"""

import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from joserfc import jwt
from joserfc.errors import JoseError

from api.db import Store
from api.identity.caller import Caller, load_caller_of_subject
from api.identity.external_issuer.jwks import OutsideKeys
from api.identity.jwt_parsing import CompactError, parse
from api.identity.metadata import require_https
from api.identity.signing_keys import CLOCK_SKEW
from api.kernel.errors import UnauthenticatedError, UnavailableError
from api.kernel.settings import OutsideIssuer, SignIn

CALLBACK = "/console/sign-in/outside"
_TIMEOUT = 10.0


@dataclass(frozen=True)
class SignInAttempt:
    """A sign-in request to the provider, kept in a cookie until the provider answers."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def fresh(cls) -> "SignInAttempt":
        return cls(secrets.token_urlsafe(24), secrets.token_urlsafe(24), secrets.token_urlsafe(48))

    def pack(self) -> str:
        return urlsafe_b64encode(json.dumps(asdict(self)).encode()).rstrip(b"=").decode()

    @classmethod
    def unpack(cls, text: str) -> "SignInAttempt":
        return cls(**json.loads(urlsafe_b64decode(text + "==")))


class OutsideSignIn:
    """Identity provider of one deployment, with us as its client."""

    def __init__(self, issuer: OutsideIssuer, own: str) -> None:
        assert issuer.sign_in is not None  # noqa: S101  (the caller has checked it)
        self._issuer, self._client = issuer, issuer.sign_in
        for name in ("authorization_url", "token_url"):
            require_https(getattr(self._client, name), f"outside_issuer.sign_in.{name}")
        self._back = own.rstrip("/") + CALLBACK
        self._keys = OutsideKeys(issuer)

    @property
    def name(self) -> str:
        return urlsplit(self._issuer.issuer).netloc

    def begin(self, asked: SignInAttempt) -> str:
        """Return the address to which the browser is redirected."""
        with self._session() as client:
            url, _ = client.create_authorization_url(
                self._client.authorization_url,
                state=asked.state,
                nonce=asked.nonce,
                code_verifier=asked.verifier,
            )
        return str(url)

    def finish(self, answer: str, asked: SignInAttempt, store: Store) -> Caller:
        """Return the caller of this answer, if the provider confirms them and they are
        registered.
        """
        fields = {name: values[-1] for name, values in parse_qs(answer).items()}
        if not secrets.compare_digest(fields.get("state", "").encode(), asked.state.encode()):
            raise UnauthenticatedError(
                "The answer does not match this browser's sign-in. Sign in again."
            )
        if fields.get("iss", self._issuer.issuer) != self._issuer.issuer:
            raise UnauthenticatedError("The answer comes from another identity provider.")
        if "code" not in fields:
            raise UnauthenticatedError("The identity provider did not sign you in.")
        subject = self._subject(self._exchange(fields["code"], asked), asked.nonce)
        with store.read() as session:
            caller = load_caller_of_subject(session, subject)
        if caller is None:
            raise UnauthenticatedError(
                "The identity provider knows you, but you are not registered here. Contact the "
                "regulator."
            )
        return caller

    def _session(self) -> Any:
        client: SignIn = self._client
        secret = client.client_secret
        return OAuth2Client(
            client.client_id,
            secret.get_secret_value() if secret else None,
            scope=client.scope,
            redirect_uri=self._back,
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            timeout=_TIMEOUT,
        )

    def _exchange(self, code: str, asked: SignInAttempt) -> str:
        """Return the ID token for a code."""
        try:
            with self._session() as client:
                answer = client.fetch_token(
                    self._client.token_url, code=code, code_verifier=asked.verifier
                )
        except AuthlibBaseError as error:
            raise UnauthenticatedError("The identity provider refused the code.") from error
        except (httpx2.HTTPError, ValueError) as error:
            raise UnavailableError("The identity provider does not answer. Try again.") from error
        if not isinstance(answer.get("id_token"), str):
            raise UnauthenticatedError("The identity provider sent no ID token.")
        return str(answer["id_token"])

    def _subject(self, id_token: str, nonce: str) -> str:
        wrong = UnauthenticatedError("The identity provider's ID token is not for this sign-in.")
        try:
            token = parse(id_token)
            key = self._keys.find(token.kid)
            if key is None:
                raise wrong
            token.verify(key, self._issuer.algorithms)
            _claims(self._issuer.issuer, self._client.client_id, nonce).validate(token.claims)
        except (CompactError, JoseError) as error:
            raise wrong from error
        audience = token.claims["aud"]
        subject = token.claims.get(self._issuer.claim)
        if (isinstance(audience, list) and len(audience) > 1) or not isinstance(subject, str):
            raise wrong
        return subject


def _claims(issuer: str, client_id: str, nonce: str) -> jwt.JWTClaimsRegistry:
    # iss, aud, exp and nonce must have the values that we know   [OIDC, §3.1.3.7]
    return jwt.JWTClaimsRegistry(
        leeway=int(CLOCK_SKEW.total_seconds()),
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": client_id},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
