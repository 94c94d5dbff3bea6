"""Researchers with keys of their own, as the SDK would act for them."""

import time
from dataclasses import dataclass
from typing import Any, Literal

import httpx2
from joserfc import jwt
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

from api.db import AuditorRow, ResearcherRow
from api.identity import validate_public_jwk
from api.identity.key_policy import algorithms_of
from api.kernel.clock import now
from api.kernel.ids import new_id
from openapi.resources import Role
from tests.api.identity.service import Service

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
KeyName = Literal["Ed25519", "ES256", "ES384", "RS256", "PS256"]


@dataclass(frozen=True)
class Person:
    id: str
    key: Key
    service: Service
    algorithm: str

    def claims(self, **changes: Any) -> dict[str, Any]:
        issued_at = int(time.time())
        claims = {
            "iss": self.id,
            "sub": self.id,
            "aud": self.service.url + "/oauth/token",
            "iat": issued_at,
            "exp": issued_at + 60,
            "jti": new_id("assertion"),
        } | changes
        return {name: value for name, value in claims.items() if value is not None}

    def assertion(self, **changes: Any) -> str:
        header = {"alg": self.algorithm}
        return jwt.encode(header, self.claims(**changes), self.key, algorithms=[self.algorithm])

    def ask(self, assertion: str | None = None, **fields: str) -> httpx2.Response:
        form = {"grant_type": "client_credentials"} | credentials(assertion or self.assertion())
        return self.service.post("/oauth/token", form | fields)

    def token(self) -> str:
        answer = self.ask()
        assert answer.status_code == 200, answer.text
        return str(answer.json()["access_token"])

    def revoke(self, token: str, **fields: str) -> httpx2.Response:
        form = {"token": token} | credentials(self.assertion())
        return self.service.post("/oauth/revoke", form | fields)


def credentials(assertion: str) -> dict[str, str]:
    return {"client_assertion_type": ASSERTION_TYPE, "client_assertion": assertion}


def make_key(name: KeyName = "Ed25519") -> Key:
    if name == "Ed25519":
        return OKPKey.generate_key("Ed25519")
    if name.startswith("ES"):
        return ECKey.generate_key("P-256" if name == "ES256" else "P-384")
    return RSAKey.generate_key(2048)


def register(
    service: Service,
    role: Role = "auditor",
    algorithm: KeyName = "Ed25519",
    outside_subject: str | None = None,
) -> Person:
    key = make_key(algorithm)
    assert algorithm in algorithms_of(key)
    jwk, thumbprint = validate_public_jwk(dict(key.as_dict(private=False)))
    auditor_id = _auditor(service) if role == "auditor" else None
    row = ResearcherRow(
        id=new_id("researcher"),
        name="Ada",
        role=role,
        auditor_id=auditor_id,
        jwk=jwk,
        key_thumbprint=thumbprint,
        outside_subject=outside_subject,
        created_at=now(),
    )
    with service.store.write() as session:
        session.add(row)
    return Person(row.id, key, service, algorithm)


def _auditor(service: Service) -> str:
    row = AuditorRow(id=new_id("auditor"), name="Open Audit Lab", created_at=now())
    with service.store.write() as session:
        session.add(row)
    return row.id
