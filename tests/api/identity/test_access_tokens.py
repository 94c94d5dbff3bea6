"""Access tokens: believed only if they are ours, in force, and of somebody registered."""

import json
import time
from typing import Any

import httpx2
import pytest
from joserfc import jws, jwt
from joserfc.jwk import OKPKey
from joserfc.util import urlsafe_b64encode

from api.db import ResearcherRow, RevokedTokenRow
from api.identity import forget_expired
from api.identity.jwt_parsing import parse
from api.kernel.clock import now
from openapi.resources import Role
from tests.api.identity.people import Person, register
from tests.api.identity.service import Service


def forge(service: Service, person: Person, **changes: Any) -> str:
    """A token signed with the service's own key, different in one respect."""
    key = changes.pop("key", service.auth.keys.current("access-token"))
    header = {"alg": "Ed25519", "typ": changes.pop("typ", "at+jwt"), "kid": key.kid}
    claims = parse(person.token()).claims | changes
    claims = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(header, claims, key, algorithms=["Ed25519"])


def test_a_token_follows_the_profile(service: Service, ada: Person) -> None:
    token = parse(ada.token())
    assert token.header["typ"] == "at+jwt"
    assert token.header["alg"] == "Ed25519"
    assert token.kid == service.auth.keys.current("access-token").kid
    claims = token.claims
    assert claims["iss"] == claims["aud"] == service.url
    assert claims["sub"] == claims["client_id"] == ada.id
    assert claims["exp"] - claims["iat"] == 600
    assert claims["scope"] == "auditor"
    assert claims["jti"]


@pytest.mark.parametrize("role", ["auditor", "regulator", "operator"])
def test_a_role_opens_its_own_door_only(service: Service, role: Role) -> None:
    token = register(service, role=role).token()
    assert service.get("/anyone", token).json()["role"] == role
    for door in ("auditor", "regulator", "operator"):
        answer = service.get(f"/{door}", token)
        if door == role:
            assert answer.status_code == 200
            continue
        assert answer.status_code == 403
        assert answer.json()["type"].endswith(":forbidden")
        assert door in answer.json()["detail"]
        assert f'scope="{door}"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("header", [None, "Basic YTpi", "Bearer", "Bearer a b", "x" * 99])
def test_without_a_bearer_token_nobody_comes_in(service: Service, header: str | None) -> None:
    headers = {"Authorization": header} if header else {}
    answer = httpx2.get(service.url + "/auditor", headers=headers)
    assert answer.status_code == 401
    assert answer.json()["type"].endswith(":unauthenticated")
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"exp": 1}, "expired"),
        ({"typ": "JWT"}, "at+jwt"),
        ({"iss": "https://elsewhere.example"}, "not meant for this service"),
        ({"aud": "https://elsewhere.example"}, "not meant for this service"),
        ({"exp": None}, "not meant for this service"),
        ({"jti": None}, "not meant for this service"),
        ({"sub": None}, "not meant for this service"),
        ({"iat": 2**40}, "not meant for this service"),
        ({"scope": "operator"}, "role changed"),
        ({"scope": ["auditor"]}, "role changed"),
        ({"sub": "researcher_unknown"}, "no longer registered"),
    ],
)
def test_a_token_that_is_wrong_in_one_respect_is_refused(
    service: Service, ada: Person, changes: dict[str, Any], reason: str
) -> None:
    assert service.get("/auditor", forge(service, ada)).status_code == 200
    _assert_refused(service.get("/auditor", forge(service, ada, **changes)), reason)


def test_a_token_is_refused_the_moment_it_expires(service: Service, ada: Person) -> None:
    _assert_refused(service.get("/auditor", forge(service, ada, exp=time.time())), "expired")


def test_a_token_that_was_believed_expires_all_the_same(service: Service, ada: Person) -> None:
    ends = time.time() + 2
    token = forge(service, ada, exp=ends)
    assert service.get("/auditor", token).status_code == 200
    time.sleep(max(0.0, ends - time.time()))
    _assert_refused(service.get("/auditor", token), "expired")


def test_the_claims_of_a_token_that_was_believed_need_its_signature(
    service: Service, ada: Person
) -> None:
    token = ada.token()
    assert service.get("/auditor", token).status_code == 200
    signed, _, signature = token.rpartition(".")
    changed = ("B" if signature[0] == "A" else "A") + signature[1:]
    _assert_refused(service.get("/auditor", f"{signed}.{changed}"), "signature")


def test_another_key_under_our_kid_is_refused(service: Service, ada: Person) -> None:
    kid = service.auth.keys.current("access-token").kid
    assert kid is not None
    key = OKPKey.generate_key("Ed25519", parameters={"kid": kid})
    _assert_refused(service.get("/auditor", forge(service, ada, key=key)), "signature")


def test_an_unknown_kid_is_refused(service: Service, ada: Person) -> None:
    key = OKPKey.generate_key("Ed25519", auto_kid=True)
    _assert_refused(service.get("/auditor", forge(service, ada, key=key)), "not in use")


def test_a_receipt_key_signs_no_tokens(service: Service, ada: Person) -> None:
    key = service.auth.keys.current("receipt")
    _assert_refused(service.get("/auditor", forge(service, ada, key=key)), "not in use")


def test_a_client_assertion_is_no_access_token(service: Service, ada: Person) -> None:
    _assert_refused(service.get("/auditor", ada.assertion()), "at+jwt")


def test_a_deleted_researcher_is_refused(service: Service, ada: Person) -> None:
    token = ada.token()
    with service.store.write() as session:
        session.delete(session.get_one(ResearcherRow, ada.id))
    _assert_refused(service.get("/auditor", token), "no longer registered")


def test_a_change_of_role_ends_the_token(service: Service, ada: Person) -> None:
    token = ada.token()
    with service.store.write() as session:
        row = session.get_one(ResearcherRow, ada.id)
        row.role = "operator"
        session.add(row)
    _assert_refused(service.get("/operator", token), "role changed")


@pytest.mark.parametrize(
    "header",
    [
        "{}",
        "[]",
        '["alg"]',
        '"alg"',
        "null",
        '{"alg":null}',
        '{"alg":["Ed25519"],"typ":"at+jwt"}',
        '{"alg":"none","typ":"at+jwt"}',
        '{"alg":"HS256","typ":"at+jwt","kid":"KID"}',
        '{"alg":"EdDSA","typ":"at+jwt","kid":"KID"}',
        '{"alg":"Ed25519","typ":"at+jwt","kid":["KID"]}',
        '{"alg":"Ed25519","typ":"at+jwt","kid":"KID","crit":["b64"],"b64":false}',
        '{"alg":"Ed25519","typ":"at+jwt","kid":"KID","crit":"x"}',
        '{"alg":"Ed25519","typ":["at+jwt"],"kid":"KID"}',
        '{"alg":"Ed25519","typ":"at+jwt","kid":"\\u0000"}',
        "[" * 5000,
        "\xff",
    ],
)
def test_any_header_of_a_stranger_is_just_refused(
    service: Service, ada: Person, header: str
) -> None:
    kid = str(service.auth.keys.current("access-token").kid)
    _, claims, signature = ada.token().split(".")
    first = urlsafe_b64encode(header.replace("KID", kid).encode("latin-1")).decode()
    for token in (f"{first}.{claims}.{signature}", f"{first}.{claims}.", f"{first}.{first}.e30"):
        assert service.get("/auditor", token).status_code == 401


@pytest.mark.parametrize("payload", ["[]", "1", "", "{", "[" * 5000, '{"exp":NaN}', "\xff"])
def test_signed_nonsense_is_refused(service: Service, payload: str) -> None:
    key = service.auth.keys.current("access-token")
    header = {"alg": "Ed25519", "typ": "at+jwt", "kid": key.kid}
    token = jws.serialize_compact(header, payload.encode("latin-1"), key, ["Ed25519"])
    assert service.get("/auditor", token).status_code == 401


def test_a_revoked_token_is_refused_and_others_are_not(service: Service, ada: Person) -> None:
    first, second = ada.token(), ada.token()
    assert service.get("/auditor", first).status_code == 200
    answer = ada.revoke(first, token_type_hint="anything")
    assert (answer.status_code, answer.json()) == (200, {})
    assert answer.headers["cache-control"] == "no-store"
    _assert_refused(service.get("/auditor", first), "revoked")
    assert service.get("/auditor", second).status_code == 200
    assert ada.revoke(first).status_code == 200


def test_an_unknown_token_is_revoked_without_a_word(service: Service, ada: Person) -> None:
    for token in ("nonsense", forge(service, ada, exp=1), ada.assertion()):
        assert ada.revoke(token).status_code == 200


def test_a_foreign_token_cannot_be_revoked(service: Service, ada: Person) -> None:
    token = ada.token()
    answer = register(service).revoke(token)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    assert service.get("/auditor", token).status_code == 200


def test_revocation_needs_the_client_and_the_token(service: Service, ada: Person) -> None:
    answer = service.post("/oauth/revoke", {"token": ada.token()})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client")
    answer = ada.revoke("")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


def test_a_revocation_is_forgotten_only_after_the_token_expired(
    service: Service, ada: Person
) -> None:
    token = ada.token()
    ada.revoke(token)
    jti, exp = parse(token).claims["jti"], parse(token).claims["exp"]
    with service.store.write() as session:
        forget_expired(session, now())
        row = session.get_one(RevokedTokenRow, jti)
        assert row.expires_at.timestamp() > exp
        forget_expired(session, row.expires_at)
        session.expire_all()
        assert session.get(RevokedTokenRow, jti) is None


def test_the_openapi_document_names_the_scope(service: Service) -> None:
    document = service.app.openapi()
    assert document["paths"]["/auditor"]["get"]["security"] == [{"OAuth2": ["auditor"]}]
    flow = document["components"]["securitySchemes"]["OAuth2"]["flows"]["clientCredentials"]
    assert flow["tokenUrl"] == "/oauth/token"
    assert set(flow["scopes"]) == {"auditor", "regulator", "operator", "applicant"}
    assert "security" not in document["paths"]["/oauth/token"]["post"]
    json.dumps(document)


def _assert_refused(answer: httpx2.Response, reason: str) -> None:
    assert answer.status_code == 401
    assert reason in answer.json()["detail"], answer.text
