"""An outside issuer: a second real server, whose tokens the first accepts instead of its own."""

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from joserfc import jws, jwt
from joserfc.jwk import ECKey, Key, OKPKey
from joserfc.util import urlsafe_b64encode
from pydantic import ValidationError

from api.identity import build_auth
from api.identity.access_tokens import OwnTokens
from api.identity.external_issuer.jwks import OutsideKeys
from api.identity.jwt_parsing import parse
from api.kernel.settings import OutsideIssuer, SignIn
from api.ledger.key_rotation import KeyEntries
from tests.api.identity.people import Person, credentials, register
from tests.api.identity.service import Service, rotate, running


@dataclass(frozen=True)
class Pair:
    """`eve` is known to the issuer; the service knows her by her subject there."""

    issuer: Service
    service: Service
    eve: Person


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with running(tmp_path / "issuer.db") as issuer:
        outside = OutsideIssuer(
            issuer=issuer.url,
            audience=issuer.url,
            jwks_url=issuer.url + "/.well-known/jwks.json",
        )
        with running(tmp_path / "service.db", outside) as service:
            eve = register(issuer, role="operator")
            register(service, role="auditor", outside_subject=eve.id)
            yield Pair(issuer, service, eve)


def test_a_mapped_subject_comes_in_with_the_role_it_has_here(pair: Pair) -> None:
    answer = pair.service.get("/auditor", pair.eve.token())
    assert answer.status_code == 200
    assert answer.json()["role"] == "auditor"
    assert pair.service.get("/operator", pair.eve.token()).status_code == 403


def test_an_unmapped_subject_is_refused(pair: Pair) -> None:
    answer = pair.service.get("/auditor", register(pair.issuer).token())
    assert answer.status_code == 401
    assert "not registered" in answer.json()["detail"]


def test_own_tokens_are_refused(pair: Pair) -> None:
    person = register(pair.service)
    own = OwnTokens(pair.service.store, pair.service.auth.keys, pair.service.url)
    answer = pair.service.get("/auditor", own.issue(person.id, "auditor"))
    assert answer.status_code == 401


def test_own_endpoints_are_closed_and_receipt_keys_still_published(pair: Pair) -> None:
    person = register(pair.service)
    form = {"grant_type": "client_credentials"} | credentials(person.assertion())
    assert pair.service.post("/oauth/token", form).status_code == 404
    assert pair.service.post("/oauth/revoke", form).status_code == 404
    assert pair.service.get("/.well-known/oauth-authorization-server").status_code == 404
    assert pair.service.get("/.well-known/jwks.json").json()["keys"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 200),
        ({"typ": "JWT"}, 200),
        ({"typ": "logout+jwt"}, 401),
        ({"aud": "https://elsewhere.example"}, 401),
        ({"aud": None}, 401),
        ({"iss": "https://elsewhere.example"}, 401),
        ({"exp": 1}, 401),
        ({"exp": None}, 401),
        ({"nbf": 2**40}, 401),
        ({"sub": None}, 401),
        ({"sub": ""}, 401),
        ({"sub": 7}, 401),
        ({"sub": "a\x00b"}, 401),
        ({"sub": "\ud800"}, 401),
        ({"cnf": {"jkt": "thumbprint"}}, 401),
        # An ID token of the same issuer for the same audience.
        ({"typ": "JWT", "nonce": "n"}, 401),
        ({"typ": "JWT", "at_hash": "h"}, 401),
        ({"typ": "JWT", "c_hash": "h"}, 401),
        ({"typ": "JWT", "client_id": None, "scope": None}, 401),
        ({"typ": "JWT", "client_id": None, "scope": None, "scp": "audit"}, 200),
        ({"typ": "JWT", "client_id": None, "scope": "auditor"}, 200),
        ({"client_id": None, "scope": None}, 200),
        ({"nonce": "n"}, 200),  # at+jwt: the issuer itself says that it is an access token
    ],
)
def test_the_claims_must_be_right(pair: Pair, changes: dict[str, Any], status: int) -> None:
    token = _signed(pair, **changes)
    assert pair.service.get("/auditor", token).status_code == status


def test_a_token_for_the_client_of_browsers_is_an_id_token(tmp_path: Path) -> None:
    sign_in = SignIn(
        authorization_url="https://id.example/authorize",
        token_url="https://id.example/token",
        client_id="console",
    )
    with running(tmp_path / "issuer.db") as issuer:
        outside = OutsideIssuer(
            issuer=issuer.url,
            audience=issuer.url,
            jwks_url=issuer.url + "/.well-known/jwks.json",
            sign_in=sign_in,
        )
        with running(tmp_path / "service.db", outside) as service:
            eve = register(issuer, role="operator")
            register(service, role="auditor", outside_subject=eve.id)
            pair = Pair(issuer, service, eve)
            for audience, status in (([issuer.url], 200), ([issuer.url, "console"], 401)):
                token = _signed(pair, typ="JWT", aud=audience)
                assert service.get("/auditor", token).status_code == status
    with pytest.raises(ValidationError, match=r"audience.*sign_in\.client_id"):
        OutsideIssuer(issuer=outside.issuer, audience="console", sign_in=sign_in)


def test_another_key_under_the_kid_of_the_issuer_is_refused(pair: Pair) -> None:
    kid = pair.issuer.auth.keys.current("access-token").kid
    assert kid is not None
    forger = OKPKey.generate_key("Ed25519", parameters={"kid": kid})
    answer = pair.service.get("/auditor", _signed(pair, key=forger))
    assert answer.status_code == 401
    assert "signature" in answer.json()["detail"]


def test_a_token_without_a_signature_is_refused(pair: Pair) -> None:
    header, claims, _ = pair.eve.token().split(".")
    unsigned = json.dumps({"alg": "none", "kid": parse(pair.eve.token()).kid}).encode()
    for first in (header, urlsafe_b64encode(unsigned).decode()):
        assert pair.service.get("/auditor", f"{first}.{claims}.").status_code == 401


def test_only_the_configured_algorithms_are_taken(pair: Pair, tmp_path: Path) -> None:
    outside = pair.service.settings.outside_issuer
    assert outside is not None
    other = outside.model_copy(update={"algorithms": ("ES256",)})
    with running(tmp_path / "other.db", other) as service:
        register(service, outside_subject=pair.eve.id)
        answer = service.get("/auditor", pair.eve.token())
        assert answer.status_code == 401
        assert "signature" in answer.json()["detail"]


def test_a_rotation_at_the_issuer_is_followed(pair: Pair) -> None:
    before = pair.eve.token()
    assert pair.service.get("/auditor", before).status_code == 200
    rotate(pair.issuer.auth.keys, pair.issuer.store, "access-token")
    after = pair.eve.token()
    assert parse(after).kid != parse(before).kid
    assert pair.service.get("/auditor", after).status_code == 200
    assert pair.service.get("/auditor", before).status_code == 200


def test_unknown_kids_ask_the_issuer_once_a_minute(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = OutsideKeys(pair.service.settings.outside_issuer)  # type: ignore[arg-type]
    assert keys.find(parse(pair.eve.token()).kid) is not None
    reads: list[bytes] = []
    read = keys._read

    def counted() -> bytes:
        reads.append(read())
        return reads[-1]

    monkeypatch.setattr(keys, "_read", counted)
    for number in range(20):
        assert keys.find(f"unknown-{number}") is None
    assert len(reads) == 1


def test_an_issuer_that_cannot_be_reached_is_not_the_callers_fault(
    pair: Pair, tmp_path: Path
) -> None:
    closed = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{closed.getsockname()[1]}/jwks.json"
    closed.close()
    outside = OutsideIssuer(issuer=pair.issuer.url, audience=pair.issuer.url, jwks_url=url)
    with running(tmp_path / "other.db", outside) as service:
        answer = service.get("/auditor", pair.eve.token())
        assert answer.status_code == 503


def test_requests_that_come_during_the_first_fetch_wait_for_it(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = OutsideKeys(pair.service.settings.outside_issuer)  # type: ignore[arg-type]
    kid = parse(pair.eve.token()).kid
    reads: list[bytes] = []
    read = keys._read

    def slow() -> bytes:
        time.sleep(0.3)
        reads.append(read())
        return reads[-1]

    def later(seconds: float) -> Key | None:
        time.sleep(seconds)
        return keys.find(kid)

    monkeypatch.setattr(keys, "_read", slow)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(later, (0, 0.05, 0.1, 0.15)))
    assert len(reads) == 1


def test_keys_go_on_being_used_while_the_issuer_is_away(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = OutsideKeys(pair.service.settings.outside_issuer)  # type: ignore[arg-type]
    kid = parse(pair.eve.token()).kid
    assert keys.find(kid) is not None

    def away() -> bytes:
        raise OSError

    monkeypatch.setattr(keys, "_read", away)
    keys._due_at = 0.0
    assert keys.find(kid) is not None


def test_keys_may_come_from_a_file(pair: Pair, tmp_path: Path) -> None:
    key = ECKey.generate_key("P-256", auto_kid=True)
    file = tmp_path / "jwks.json"
    junk = [{"kty": "oct", "k": "c2VjcmV0"}, {"kty": "AKP"}, 7]
    file.write_text(json.dumps({"keys": [*junk, key.as_dict(private=False)]}))
    outside = OutsideIssuer(
        issuer="https://id.example", audience="audits", jwks_file=file, claim="email"
    )
    claims = {
        "iss": "https://id.example",
        "aud": ["audits"],
        "exp": 2**40,
        "email": "e@lab.example",
        "scope": "audit",
    }
    token = jwt.encode({"alg": "ES256"}, claims, key)
    with running(tmp_path / "other.db", outside) as service:
        assert service.get("/auditor", token).status_code == 401
        register(service, outside_subject="e@lab.example")
        assert service.get("/auditor", token).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"jwks_url": "http://id.example/jwks.json"},
        {"jwks_url": "file:///etc/passwd"},
        {"jwks_url": "ftp://localhost/jwks.json"},
        {"jwks_url": "https:///jwks.json"},
        {"jwks_url": None},
        {"jwks_file": Path("both.json")},
        {"algorithms": ()},
        {"algorithms": ("HS256",)},
        {"algorithms": ("none", "ES256")},
    ],
)
def test_an_unsafe_outside_issuer_is_refused_at_start(
    service: Service, changes: dict[str, Any]
) -> None:
    safe = OutsideIssuer(issuer="https://id.example", audience="a", jwks_url="https://id.example/j")
    build_auth(
        service.store, service.settings.model_copy(update={"outside_issuer": safe}), KeyEntries()
    )
    unsafe = safe.model_copy(update=changes)
    with pytest.raises(ValueError, match="outside_issuer"):
        build_auth(
            service.store,
            service.settings.model_copy(update={"outside_issuer": unsafe}),
            KeyEntries(),
        )


def _signed(pair: Pair, **changes: Any) -> str:
    key = changes.pop("key", pair.issuer.auth.keys.current("access-token"))
    header = {"alg": "Ed25519", "typ": changes.pop("typ", "at+jwt"), "kid": key.kid}
    claims = parse(pair.eve.token()).claims | changes
    claims = {name: value for name, value in claims.items() if value is not None}
    return jws.serialize_compact(header, json.dumps(claims), key, algorithms=["Ed25519"])
