"""Replaying what was overheard: assertions and access tokens."""

from collections.abc import Callable
from datetime import timedelta

import httpx2
import pytest

from api.identity.access_tokens import OwnTokens
from api.identity.assertions import SignedAssertion
from api.identity.caller import Caller, load_caller
from api.kernel.clock import now
from auditor_client.transport.access_tokens import Tokens
from tests.system.raw import raw, refused
from tests.world import Deployment


@pytest.fixture
def tokens(target: Deployment) -> Tokens:
    return target.auditor()._tokens


def ask(target: Deployment, form: dict[str, str]) -> httpx2.Response:
    return httpx2.post(f"{target.url}/oauth/token", data=form)


def overheard(target: Deployment, tokens: Tokens) -> dict[str, str]:
    """A form that was sent to the service and worked."""
    form = tokens._form(f"{target.url}/oauth/token")
    assert ask(target, form).is_success
    return form


def test_an_assertion_works_once(target: Deployment, tokens: Tokens) -> None:
    form = overheard(target, tokens)
    for _ in range(3):
        answer = ask(target, form)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client")


def test_without_memory_of_assertions_a_replay_buys_a_token(
    target: Deployment, tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SignedAssertion, "validate_jti", lambda *_: True)
    stolen = ask(target, overheard(target, tokens)).json()["access_token"]
    assert raw(target, stolen).get("/v1/budget").is_success


ELSEWHERE = "https://elsewhere.example"


def test_an_assertion_for_another_service_is_refused(
    target: Deployment, tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A malicious service forwards an assertion that a researcher sent to it."""
    forms = [tokens._form(f"{ELSEWHERE}/oauth/token") for _ in range(2)]
    answer = ask(target, forms[0])
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client")
    monkeypatch.setattr(SignedAssertion, "get_audiences", lambda _: [f"{ELSEWHERE}/oauth/token"])
    assert ask(target, forms[1]).is_success


def revoked(target: Deployment, tokens: Tokens) -> str:
    token = tokens.current()
    form = tokens._form(f"{target.url}/oauth/token") | {"token": token}
    del form["grant_type"]
    assert httpx2.post(f"{target.url}/oauth/revoke", data=form).is_success
    return token


def test_a_revoked_token_is_dead(target: Deployment, tokens: Tokens) -> None:
    token = revoked(target, tokens)
    refused(raw(target, token).get("/v1/budget"), "unauthenticated", "revoked")


def test_without_memory_of_revocations_it_lives_on(
    target: Deployment, tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    def authenticate(self: OwnTokens, bearer: str) -> Caller:
        with self._store.read() as session:
            caller = load_caller(session, self.read(bearer)["sub"])
        assert caller is not None
        return caller

    monkeypatch.setattr(OwnTokens, "authenticate", authenticate)
    assert raw(target, revoked(target, tokens)).get("/v1/budget").is_success


def issued(target: Deployment, tokens: Tokens, issuer: str) -> str:
    """Signed by our very key."""
    service = OwnTokens(target.service.store, target.service.auth.keys, issuer)
    return service.issue(tokens._researcher_id, "auditor")


def of_another_service(target: Deployment, tokens: Tokens, _: pytest.MonkeyPatch) -> str:
    return issued(target, tokens, ELSEWHERE)


def of_yesterday(target: Deployment, tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> str:
    with monkeypatch.context() as patched:
        patched.setattr("api.identity.access_tokens.now", lambda: now() - timedelta(days=1))
        return issued(target, tokens, target.url)


@pytest.mark.parametrize(
    ("stale", "words"),
    [(of_another_service, "not meant for this service"), (of_yesterday, "has expired")],
)
def test_a_token_of_another_place_or_time_is_refused(
    target: Deployment,
    tokens: Tokens,
    monkeypatch: pytest.MonkeyPatch,
    stale: Callable[[Deployment, Tokens, pytest.MonkeyPatch], str],
    words: str,
) -> None:
    me = raw(target, stale(target, tokens, monkeypatch))
    refused(me.get("/v1/budget"), "unauthenticated", words)
    # The twin checks the signature alone.
    monkeypatch.setattr(OwnTokens, "_validate", lambda *_: None)
    assert me.get("/v1/budget").is_success
