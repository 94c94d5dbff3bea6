"""Retries and tokens against a real socket."""

import json
import threading
import time
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import parse_qs

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import OKPKey

from auditor_client import Auditor, ConnectionBrokenError, ProblemError
from auditor_client.errors import (
    AuthenticationError,
    ContractError,
    NotFoundError,
    RateLimitedError,
    RequestError,
    ServiceError,
)
from auditor_client.transport.http_client import Transport
from auditor_client.transport.retries import Retries, retry_after
from auditor_client.transport.retries import _Trying as Trying
from openapi.resources import Budget, Content
from tests.auditor_client.examples import content
from tests.auditor_client.scripted import HANG_UP, Answer, ScriptedService, answer, refuse

QUICK = Retries(attempts=4, first_wait=0.01, longest_wait=0.02)
BUDGET = answer({"mandates": []})
KEY = OKPKey.generate_key("Ed25519")


@pytest.fixture
def public(service: ScriptedService) -> Iterator[Transport]:
    transport = Transport(service.url, retries=QUICK)
    yield transport
    transport.close()


@pytest.fixture
def auditor(service: ScriptedService) -> Iterator[Auditor]:
    service.sign_in("first", "second")
    with Auditor(service.url, "researcher_1", KEY, retries=QUICK) as made:
        yield made


@pytest.mark.parametrize(
    "trouble", [refuse("unavailable"), refuse("internal"), Answer(502), HANG_UP]
)
def test_a_get_is_tried_again(service: ScriptedService, public: Transport, trouble: Answer) -> None:
    service.on("GET", "/x", trouble, trouble, BUDGET)
    assert public.get("/x", Budget) == Budget(mandates=[])
    assert len(service.requests("GET", "/x")) == 3


def test_patience_ends_with_the_last_problem(service: ScriptedService, public: Transport) -> None:
    service.on("GET", "/x", refuse("unavailable", "Being restarted"))
    with pytest.raises(ServiceError, match="Being restarted"):
        public.get("/x", Budget)
    assert len(service.requests("GET", "/x")) == QUICK.attempts


def test_retry_after_is_honoured(service: ScriptedService, public: Transport) -> None:
    service.on("GET", "/x", refuse("rate-limited", headers={"retry-after": "1"}), BUDGET)
    before = time.monotonic()
    public.get("/x", Budget)
    assert time.monotonic() - before >= 1


def test_an_endless_retry_after_raises_at_once(service: ScriptedService, public: Transport) -> None:
    service.on("GET", "/x", refuse("rate-limited", headers={"retry-after": "86400"}))
    with pytest.raises(RateLimitedError):
        public.get("/x", Budget)
    assert len(service.requests("GET", "/x")) == 1


@pytest.mark.parametrize("asked", [1.0, 45.0, 170.0, 200.0, 299.0, 350.0])
def test_nobody_is_refused_before_five_minutes_were_waited(asked: float) -> None:
    limits = Retries()
    trying, waited = Trying(limits), 0.0
    while (pause := trying.after_asking(asked)) is not None:
        assert pause >= asked
        waited += pause
    # The last wait begins within five minutes, or ends within the patience but for its jitter.
    latest = max(300 + asked, limits.patience) + limits.longest_wait
    assert 300 <= waited <= latest


def test_retry_after_may_be_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30))
    for value, low, high in (("7", 7, 7), ("0", 0, 0), (date, 28, 30)):
        asked = retry_after(httpx2.Response(429, headers={"retry-after": value}))
        assert asked is not None
        assert low <= asked <= high


@pytest.mark.parametrize("value", ["soon", "", "-1", "Wed, 21 Oct 2015 07:28:00 -0000"])
def test_a_retry_after_that_says_nothing_is_ignored(value: str) -> None:
    assert retry_after(httpx2.Response(503, headers={"retry-after": value})) is None


@pytest.mark.parametrize("trouble", [HANG_UP, refuse("internal"), Answer(502), Answer(504)])
def test_a_post_that_may_have_worked_is_not_repeated(
    service: ScriptedService, public: Transport, trouble: Answer
) -> None:
    service.on("POST", "/x", trouble, answer(content().model_dump(mode="json")))
    with pytest.raises((ConnectionBrokenError, ProblemError)):
        public.post("/x", None, Content)
    assert len(service.requests("POST", "/x")) == 1


def test_a_post_that_was_turned_away_is_repeated(
    service: ScriptedService, public: Transport
) -> None:
    service.on("POST", "/x", refuse("rate-limited"), answer(content().model_dump(mode="json")))
    assert public.post("/x", None, Content) == content()


def test_a_post_that_never_left_is_repeated(service: ScriptedService) -> None:
    with ScriptedService() as gone:
        nowhere = gone.url
    waits = Retries(attempts=3, first_wait=0.01)
    with pytest.raises(ConnectionBrokenError, match="ConnectError"):
        Transport(nowhere, retries=waits).post("/x", None, Content)


def test_a_missing_thing_is_not_asked_for_twice(
    service: ScriptedService, public: Transport
) -> None:
    with pytest.raises(NotFoundError):
        public.get("/nothing", Budget)
    assert len(service.asked) == 1


def test_a_refusal_by_something_else_is_still_an_error(
    service: ScriptedService, public: Transport
) -> None:
    service.on("GET", "/x", Answer(400, b"<html>no</html>"))
    with pytest.raises(RequestError, match=r"\b400\b"):
        public.get("/x", Budget)


def test_an_answer_outside_of_the_contract_is_reported(
    service: ScriptedService, public: Transport
) -> None:
    service.on("GET", "/x", answer({"mandates": "many"}))
    with pytest.raises(ContractError, match=r"\bBudget\b"):
        public.get("/x", Budget)


def test_all_pages_are_read(service: ScriptedService, public: Transport) -> None:
    item = content().model_dump(mode="json")
    pages = [answer({"items": [item, item], "next": "c2"}), answer({"items": [item]})]
    service.on("GET", "/x", *pages)
    assert list(public.items("/x", Content)) == [content()] * 3
    assert [asked.query for asked in service.asked] == [{}, {"cursor": "c2"}]


def test_the_token_is_asked_for_once(service: ScriptedService, auditor: Auditor) -> None:
    service.on("GET", "/v1/budget", BUDGET)
    threads = [threading.Thread(target=auditor.budget) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(service.requests("POST", "/oauth/token")) == 1
    assert {r.headers["authorization"] for r in service.requests("GET", "/v1/budget")} == {
        "Bearer first"
    }


def test_a_refused_token_is_renewed_once(service: ScriptedService, auditor: Auditor) -> None:
    service.on("GET", "/v1/budget", refuse("unauthenticated"), BUDGET)
    auditor.budget()
    signed = [asked.headers["authorization"] for asked in service.requests("GET", "/v1/budget")]
    assert signed == ["Bearer first", "Bearer second"]


def test_a_second_refusal_is_final(service: ScriptedService, auditor: Auditor) -> None:
    service.on("GET", "/v1/budget", refuse("unauthenticated", "Revoked"))
    with pytest.raises(AuthenticationError, match="Revoked"):
        auditor.budget()
    assert len(service.requests("GET", "/v1/budget")) == 2


def test_a_token_is_renewed_before_it_expires(service: ScriptedService, auditor: Auditor) -> None:
    short = answer({"access_token": "short", "expires_in": 0.2})
    service.on("POST", "/oauth/token", short, answer({"access_token": "next"}))
    service.on("GET", "/v1/budget", BUDGET)
    auditor.budget()
    time.sleep(0.15)
    auditor.budget()
    signed = [asked.headers["authorization"] for asked in service.requests("GET", "/v1/budget")]
    assert signed == ["Bearer short", "Bearer next"]


def test_each_assertion_is_fresh_and_says_who(service: ScriptedService, auditor: Auditor) -> None:
    service.on(
        "POST", "/oauth/token", HANG_UP, refuse("unavailable"), answer({"access_token": "t"})
    )
    service.on("GET", "/v1/budget", BUDGET)
    auditor.budget()
    forms = [parse_qs(asked.body.decode()) for asked in service.requests("POST", "/oauth/token")]
    tokens = [
        jwt.decode(form["client_assertion"][0], KEY, algorithms=["Ed25519"]) for form in forms
    ]
    assert len({token.claims["jti"] for token in tokens}) == len(tokens) == 3
    claims = tokens[0].claims
    assert claims["iss"] == claims["sub"] == "researcher_1"
    assert claims["aud"] == f"{service.url}/oauth/token"
    assert claims["exp"] - claims["iat"] == 60
    assert tokens[0].header["kid"] == KEY.thumbprint()
    assert forms[0]["grant_type"] == ["client_credentials"]


def test_a_key_that_the_service_does_not_know_is_reported(
    service: ScriptedService, auditor: Auditor
) -> None:
    service.on("POST", "/oauth/token", answer({"error": "invalid_client"}, status=401))
    with pytest.raises(AuthenticationError, match="researcher_1"):
        auditor.budget()


def test_the_private_key_is_never_sent(service: ScriptedService, auditor: Auditor) -> None:
    service.on("GET", "/v1/budget", BUDGET)
    auditor.budget()
    secret = KEY.as_dict(private=True)["d"]
    assert isinstance(secret, str)
    raw = urlsafe_b64decode(secret + "==")
    for asked in service.asked:
        everything = json.dumps(dict(asked.headers)).encode() + asked.body
        assert secret.encode() not in everything
        assert raw not in everything


def test_waits_that_the_service_asks_for_do_not_count_as_attempts(
    service: ScriptedService, public: Transport
) -> None:
    busy = [refuse("unavailable", headers={"retry-after": "0"})] * (3 * QUICK.attempts)
    service.on("GET", "/x", *busy, BUDGET)
    assert public.get("/x", Budget) == Budget(mandates=[])


@pytest.mark.parametrize("form", ["seconds", "date"])
@pytest.mark.parametrize("code", ["rate-limited", "unavailable"])
def test_five_minutes_are_waited_in_total_and_not_endlessly(
    service: ScriptedService, monkeypatch: pytest.MonkeyPatch, code: str, form: str
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("auditor_client.transport.retries.time.sleep", waits.append)

    def busy(_: object) -> Answer:
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=31), usegmt=True)
        return refuse(code, headers={"retry-after": "30" if form == "seconds" else date})

    service.on("GET", "/x", busy)
    transport = Transport(service.url)
    with pytest.raises((RateLimitedError, ServiceError)):
        transport.get("/x", Budget)
    transport.close()
    assert 300 <= sum(waits) <= 400
    assert min(waits) >= 29
    # Jitter: nobody who was refused together comes back together.
    assert len(set(waits)) == len(waits)
    assert max(waits) <= 31 + Retries().longest_wait


def test_a_post_without_a_key_comes_again_when_it_was_shed(
    service: ScriptedService, public: Transport
) -> None:
    shed = refuse("unavailable", headers={"retry-after": "0"})
    service.on("POST", "/x", shed, answer(content().model_dump(mode="json")))
    assert public.post("/x", None, Content) == content()


def test_a_post_without_a_key_is_not_repeated_after_a_503_that_asks_for_nothing(
    service: ScriptedService, public: Transport
) -> None:
    service.on("POST", "/x", refuse("unavailable"))
    with pytest.raises(ServiceError):
        public.post("/x", None, Content)
    assert len(service.requests("POST", "/x")) == 1


def test_two_hundred_clients_of_an_overloaded_service_all_finish(service: ScriptedService) -> None:
    slots = threading.Semaphore(4)

    def admitted(_: object) -> Answer:
        if not slots.acquire(blocking=False):
            return refuse("unavailable", headers={"retry-after": "1"})
        try:
            time.sleep(0.005)
            return BUDGET
        finally:
            slots.release()

    service.on("GET", "/x", admitted)
    done: list[Budget] = []

    def ask() -> None:
        transport = Transport(service.url)
        done.append(transport.get("/x", Budget))
        transport.close()

    threads = [threading.Thread(target=ask) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 200
