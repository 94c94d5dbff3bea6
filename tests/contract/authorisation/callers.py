"""Callers of the matrix: each role, and everybody whose token must not work."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from joserfc import jwt
from joserfc.jwk import OKPKey

from api.identity.access_tokens import TYPE
from auditor_client.transport.access_tokens import ASSERTION_TYPE
from auditor_client.transport.session import Connection
from openapi.resources import Role
from tests.vetting import new_key
from tests.world import Deployment


@dataclass(frozen=True)
class Caller:
    """Somebody who sends requests, and the key that signs them.

    `role` is None for a caller whose token must be refused.
    """

    name: str
    role: Role | None
    researcher_id: str
    auditor_id: str | None
    key: OKPKey
    token: str | None

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"} if self.token else {}


def caller_of(name: str, connection: Connection) -> Caller:
    """Return the caller whose credentials this connection holds."""
    me = connection.me()
    return Caller(
        name, me.role, me.id, me.auditor_id, connection._key, connection._tokens.current()
    )


def without_access(deployment: Deployment, owner: Caller) -> list[Caller]:
    """Return callers with the owner's key and a token that must be refused, or with none."""
    key, own = owner.key, deployment.service.auth.keys.current("access-token")
    expired = {"iat": int(time.time()) - 1_000, "exp": int(time.time()) - 400}
    tokens = {
        "stranger": None,
        "bad token": _token(deployment, owner, new_key(), own.kid),
        "expired token": _token(deployment, owner, own, own.kid, **expired),
        "revoked token": _revoked(deployment, owner),
    }
    refused = [
        Caller(name, None, owner.researcher_id, owner.auditor_id, key, token)
        for name, token in tokens.items()
    ]
    return [*refused, _removed(deployment, owner)]


def assertion(deployment: Deployment, of: Caller) -> dict[str, str]:
    """Return the fields of a form that authenticate this caller (RFC 7523, section 2.2)."""
    claims = {
        "iss": of.researcher_id,
        "sub": of.researcher_id,
        "aud": deployment.url,
        "iat": int(time.time()),
        "exp": int(time.time()) + 60,
        "jti": secrets.token_urlsafe(16),
    }
    signed = jwt.encode(
        {"alg": "Ed25519", "kid": of.key.thumbprint()}, claims, of.key, algorithms=["Ed25519"]
    )
    return {"client_assertion_type": ASSERTION_TYPE, "client_assertion": signed}


def _token(deployment: Deployment, of: Caller, key: OKPKey, kid: str | None, **changes: Any) -> str:
    """Return an access token as the service makes it, apart from the changes."""
    claims: Mapping[str, Any] = {
        "iss": deployment.url,
        "aud": deployment.url,
        "sub": of.researcher_id,
        "client_id": of.researcher_id,
        "scope": "auditor",
        "iat": int(time.time()),
        "exp": int(time.time()) + 600,
        "jti": "a-token-of-a-test",
    }
    header = {"typ": TYPE, "alg": "Ed25519", "kid": kid}
    return jwt.encode(header, {**claims, **changes}, key, algorithms=["Ed25519"])


def _revoked(deployment: Deployment, owner: Caller) -> str:
    """Return a token that worked until its holder revoked it."""
    connection = Connection(deployment.url, owner.researcher_id, owner.key)
    deployment.clients.enter_context(connection)
    token = connection._tokens.current()
    form = {"token": token} | assertion(deployment, owner)
    answer = httpx2.post(f"{deployment.url}/oauth/revoke", data=form)
    assert answer.is_success, answer.text
    return token


def _removed(deployment: Deployment, owner: Caller) -> Caller:
    """Return a researcher of the owner's auditor whose token worked until they were removed."""
    assert owner.auditor_id
    connection = deployment.researcher(owner.auditor_id)
    removed = caller_of("removed researcher", connection)
    deployment.regulator.researchers.remove(removed.researcher_id, "left the organisation")
    return Caller(**{**vars(removed), "role": None})
