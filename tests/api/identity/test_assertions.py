"""Client authentication: what is let in, and everything that is not."""

import hmac
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from joserfc import jws
from joserfc.jwk import OctKey
from joserfc.util import urlsafe_b64encode
from sqlmodel import select

from api.db import ResearcherRow, UsedAssertionRow
from api.identity import forget_expired
from api.kernel.clock import now
from tests.api.identity.people import KeyName, Person, make_key, register
from tests.api.identity.service import Service


@pytest.mark.parametrize("algorithm", ["Ed25519", "ES256", "ES384", "RS256", "PS256"])
def test_a_signed_assertion_buys_a_token_of_ten_minutes(
    service: Service, algorithm: KeyName
) -> None:
    person = register(service, algorithm=algorithm)
    answer = person.ask()
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert (body["token_type"], body["expires_in"], body["scope"]) == ("Bearer", 600, "auditor")
    assert "refresh_token" not in body
    caller = service.get("/auditor", body["access_token"]).json()
    assert caller["researcher_id"] == person.id
    assert caller["auditor_id"].startswith("auditor_")


def test_the_audience_may_be_the_issuer(service: Service, ada: Person) -> None:
    assert ada.ask(ada.assertion(aud=service.url)).status_code == 200
    assert ada.ask(ada.assertion(aud=[service.url])).status_code == 200


def test_a_replayed_assertion_is_refused(ada: Person) -> None:
    assertion = ada.assertion()
    assert ada.ask(assertion).status_code == 200
    _assert_refused(ada.ask(assertion), "used before")


def test_two_researchers_may_choose_the_same_jti(service: Service, ada: Person) -> None:
    bob = register(service)
    for person in (ada, bob):
        assert person.ask(person.assertion(jti="the-same-one")).status_code == 200


def test_of_racing_requests_with_one_assertion_exactly_one_wins(ada: Person) -> None:
    ada.token()
    for _ in range(5):
        assertion = ada.assertion()
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda text: ada.ask(text).status_code, [assertion] * 4))
        assert sorted(answers) == [200, 400, 400, 400]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"exp": -31}, "expired"),
        ({"nbf": 60}, "not yet valid"),
        ({"iat": 60}, "in the future"),
        ({"exp": 3600}, "within 5 minutes"),
        ({"exp": 10**300}, "within 5 minutes"),
    ],
)
def test_an_assertion_of_another_time_is_refused(
    ada: Person, changes: dict[str, int], reason: str
) -> None:
    moved = {name: int(time.time()) + seconds for name, seconds in changes.items()}
    _assert_refused(ada.ask(ada.assertion(**moved)), reason)


@pytest.mark.parametrize(
    "extension",
    [{"crit": ["b64"], "b64": True}, {"crit": ["b64"], "b64": False}, {"b64": True}, {"crit": []}],
)
def test_critical_extensions_are_refused(ada: Person, extension: dict[str, Any]) -> None:
    """Refuse a header that changes what is signed, although its signature is good."""
    signed = f"{_segment({'alg': ada.algorithm} | extension)}.{_segment(ada.claims())}"
    signer: Any = ada.key.get_op_key("sign")
    signature = signer.sign(signed.encode())
    assertion = f"{signed}.{urlsafe_b64encode(signature).decode()}"
    _assert_refused(ada.ask(assertion), "not a signed JWT")


def test_a_small_clock_skew_is_forgiven(ada: Person) -> None:
    ahead = int(time.time()) + 20
    assert ada.ask(ada.assertion(iat=ahead, nbf=ahead, exp=ahead + 300)).status_code == 200


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"aud": "https://elsewhere.example"}, "aud"),
        ({"aud": None}, "aud"),
        ({"exp": None}, "exp"),
        ({"exp": "soon"}, "exp"),
        ({"jti": None}, "jti"),
        ({"jti": "short"}, "jti"),
        ({"jti": "with\x00a-null-in-it"}, "jti"),
        ({"jti": 12345678}, "jti"),
        ({"iss": "researcher_of_another_name"}, "iss"),
        ({"iss": None}, "iss"),
    ],
)
def test_wrong_or_missing_claims_are_refused(
    ada: Person, changes: dict[str, Any], reason: str
) -> None:
    _assert_refused(ada.ask(ada.assertion(**changes)), reason)


def test_an_assertion_for_another_server_too_is_refused(service: Service, ada: Person) -> None:
    both = [service.url, "https://elsewhere.example"]
    _assert_refused(ada.ask(ada.assertion(aud=both)), "another server")


def test_a_wrong_key_is_refused(service: Service, ada: Person) -> None:
    impostor = Person(ada.id, make_key(), service, "Ed25519")
    _assert_refused(impostor.ask(), "registered key")


def test_a_key_of_another_type_is_refused(service: Service, ada: Person) -> None:
    impostor = Person(ada.id, make_key("ES256"), service, "ES256")
    _assert_refused(impostor.ask(), "registered key")


def test_no_algorithm_is_refused(ada: Person) -> None:
    header = _segment({"alg": "none"})
    _assert_refused(ada.ask(f"{header}.{_segment(ada.claims())}."), "registered key")


@pytest.mark.parametrize("algorithm", ["Ed25519", "RS256"])
def test_the_public_key_is_no_shared_secret(service: Service, algorithm: KeyName) -> None:
    person = register(service, algorithm=algorithm)
    public = person.key.as_dict(private=False)
    for secret in (_pem(person), json.dumps(public).encode(), str(public.get("x", "")).encode()):
        if secret:
            forged = _hs256(person, secret)
            _assert_refused(person.ask(forged), "registered key")


@pytest.mark.parametrize("name", ["ghost", "\x00", "é", "x" * 5000])
def test_an_unknown_client_is_refused(service: Service, name: str) -> None:
    ghost = Person(name, make_key(), service, "Ed25519")
    _assert_refused(ghost.ask(), "does not exist")


def test_a_subject_that_no_database_can_hold_is_refused(ada: Person) -> None:
    # A lone surrogate is valid JSON, and cannot be written as UTF-8.
    claims = json.dumps(ada.claims(sub="\ud800", iss="\ud800"))
    assertion = jws.serialize_compact({"alg": "Ed25519"}, claims, ada.key, ["Ed25519"])
    _assert_refused(ada.ask(assertion), "does not exist")


def test_a_subject_that_is_no_text_is_refused(ada: Person) -> None:
    _assert_refused(ada.ask(ada.assertion(sub=["a", "b"])), "sub")


def test_a_researcher_without_a_key_cannot_ask(service: Service, ada: Person) -> None:
    with service.store.write() as session:
        row = session.get_one(ResearcherRow, ada.id)
        row.jwk = None
        session.add(row)
    _assert_refused(ada.ask(), "does not exist")


def test_a_client_id_must_be_the_subject(ada: Person) -> None:
    assert ada.ask(client_id=ada.id).status_code == 200
    _assert_refused(ada.ask(client_id="someone_else"), "client_id")


def test_the_scope_is_the_role(ada: Person) -> None:
    assert ada.ask(scope="auditor").json()["scope"] == "auditor"
    for scope in ("operator", "auditor operator", "everything", " ", "auditor\x00"):
        answer = ada.ask(scope=scope)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_scope"), scope


def test_used_assertions_are_forgotten_only_when_they_cannot_come_back(
    service: Service, ada: Person
) -> None:
    ada.token()
    with service.store.write() as session:
        forget_expired(session, now())
        assert len(session.exec(select(UsedAssertionRow)).all()) == 1
        row = session.exec(select(UsedAssertionRow)).one()
        forget_expired(session, row.expires_at)
        assert not session.exec(select(UsedAssertionRow)).all()
    # Accepted until exp + 30 s by a clock that may be 30 s late.
    assert (row.expires_at - now()).total_seconds() > 60 + 55


def _assert_refused(answer: Any, reason: str) -> None:
    assert answer.status_code == 400
    assert answer.headers["cache-control"] == "no-store"
    body = answer.json()
    assert body["error"] == "invalid_client"
    assert reason in body["error_description"], body


def _segment(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).decode()


def _pem(person: Person) -> bytes:
    assert not isinstance(person.key, OctKey)
    return person.key.as_pem(private=False)


def _hs256(person: Person, secret: bytes) -> str:
    """By hand: joserfc refuses to make it."""
    signed = f"{_segment({'alg': 'HS256'})}.{_segment(person.claims())}"
    mac = hmac.digest(secret, signed.encode(), "sha256")
    return f"{signed}.{urlsafe_b64encode(mac).decode()}"
