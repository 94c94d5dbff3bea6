"""The endpoints themselves: metadata, keys, forms and their bounds."""

import logging

import httpx2
import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

from api.identity import build_auth
from api.ledger.key_rotation import KeyEntries
from tests.api.identity.people import Person, credentials
from tests.api.identity.service import Service, rotate

PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}


def test_the_metadata_says_what_is_offered(service: Service) -> None:
    answer = service.get("/.well-known/oauth-authorization-server")
    assert answer.headers["cache-control"] == "public, max-age=60"
    document = answer.json()
    assert document["issuer"] == service.url
    assert document["grant_types_supported"] == ["client_credentials"]
    assert document["token_endpoint_auth_methods_supported"] == ["private_key_jwt"]
    assert document["scopes_supported"] == ["auditor", "regulator", "operator", "applicant"]
    algorithms = document["token_endpoint_auth_signing_alg_values_supported"]
    assert algorithms == ["Ed25519", "ES256", "ES384", "RS256", "PS256"]
    for name in ("token_endpoint", "revocation_endpoint", "jwks_uri"):
        assert document[name].startswith(service.url + "/")


def test_authlib_finds_the_metadata_valid(service: Service) -> None:
    document = service.get("/.well-known/oauth-authorization-server").json()
    # Authlib insists on a response type, which only an authorisation endpoint could have.
    assert document["response_types_supported"] == []
    AuthorizationServerMetadata(document | {"response_types_supported": ["none"]}).validate()


def test_the_key_set_is_public_only(service: Service, ada: Person) -> None:
    ada.token()
    rotate(service.auth.keys, service.store, "access-token")
    keys = service.get("/.well-known/jwks.json").json()["keys"]
    assert len(keys) == 3
    for jwk in keys:
        assert not PRIVATE & jwk.keys()
        assert (jwk["kty"], jwk["crv"], jwk["alg"], jwk["use"]) == (
            "OKP",
            "Ed25519",
            "Ed25519",
            "sig",
        )
    assert len({jwk["kid"] for jwk in keys}) == 3


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"", "application/x-www-form-urlencoded"),
        (b"grant_type", "application/x-www-form-urlencoded"),
        (b"\xff\xfe=1", "application/x-www-form-urlencoded"),
        (b"a=%ff", "application/x-www-form-urlencoded"),
        (b"grant_type=", "application/x-www-form-urlencoded"),
        (b"grant_type=a&grant_type=b", "application/x-www-form-urlencoded"),
        (b"&".join(b"p%d=1" % number for number in range(99)), "application/x-www-form-urlencoded"),
        (b'{"grant_type": "client_credentials"}', "application/json"),
        (b"grant_type=client_credentials", ""),
    ],
)
def test_a_bad_form_is_an_invalid_request(
    service: Service, content: bytes, media_type: str
) -> None:
    headers = {"Content-Type": media_type}
    answer = httpx2.post(service.url + "/oauth/token", content=content, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_request"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
def test_a_large_body_is_refused(service: Service, path: str) -> None:
    answer = service.post(path, {"grant_type": "x" * 70_000})
    assert answer.status_code == 413
    assert answer.json()["error"] == "invalid_request"


@pytest.mark.parametrize("grant", ["password", "refresh_token", "authorization_code", "\x00", "é"])
def test_other_grants_are_unsupported(service: Service, ada: Person, grant: str) -> None:
    form = {"grant_type": grant} | credentials(ada.assertion())
    answer = service.post("/oauth/token", form)
    assert (answer.status_code, answer.json()["error"]) == (400, "unsupported_grant_type")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"client_id": "ID", "client_secret": "secret"},
        {"client_id": "ID"},
        {"client_assertion_type": "other", "client_assertion": "x"},
        credentials("x"),
        credentials("a.b.c"),
        credentials("W10.W10."),
        credentials("." * 1000),
        credentials("é.é.é"),
        credentials("A" * 60_000),
    ],
)
def test_no_other_client_authentication_is_taken(
    service: Service, ada: Person, fields: dict[str, str]
) -> None:
    form = {name: ada.id if value == "ID" else value for name, value in fields.items()}
    answer = service.post("/oauth/token", {"grant_type": "client_credentials"} | form)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client")


def test_basic_authentication_gets_a_clear_error(service: Service, ada: Person) -> None:
    form = {"grant_type": "client_credentials"} | credentials(ada.assertion())
    answer = service.post("/oauth/token", form, Authorization="Basic YTpi")
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert answer.headers["www-authenticate"].startswith("Basic ")


def test_no_token_is_logged(ada: Person, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assertion = ada.assertion()
        token = ada.ask(assertion).json()["access_token"]
        ada.revoke(token)
    assert token not in caplog.text
    assert assertion not in caplog.text


def test_an_issuer_in_the_clear_is_refused_at_start(service: Service) -> None:
    settings = service.settings.model_copy(update={"issuer": "http://audits.example"})
    with pytest.raises(ValueError, match="https"):
        build_auth(service.store, settings, KeyEntries())


def test_the_forms_are_documented(service: Service) -> None:
    paths = service.app.openapi()["paths"]
    form = "application/x-www-form-urlencoded"
    token = paths["/oauth/token"]["post"]["requestBody"]["content"][form]["schema"]
    assert set(token["required"]) == {"grant_type", "client_assertion_type", "client_assertion"}
    revoke = paths["/oauth/revoke"]["post"]["requestBody"]["content"][form]["schema"]
    assert "token" in revoke["required"]
