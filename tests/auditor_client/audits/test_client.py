"""Submitting, following and holding the platform to its receipt."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from joserfc.jwk import OKPKey

from auditor_client import (
    AuditFailedError,
    Auditor,
    ConnectionBrokenError,
    InputError,
    ReceiptError,
)
from auditor_client.audits import polling
from auditor_client.local.audience_records import Record, save_record
from auditor_client.transport.retries import Retries
from openapi.problems import problem
from openapi.resources import Released
from tests.auditor_client.audiences.test_client import CATALOGUE
from tests.auditor_client.examples import (
    AUDIENCE_ID,
    AUDIT_ID,
    CONTENT_ID,
    NAMES,
    audit_of,
    content,
    key_set,
    platform_key,
    quote,
    release,
)
from tests.auditor_client.scripted import HANG_UP, Answer, Asked, ScriptedService, answer
from tests.refusals import refuses

PATH = f"/v1/audits/{AUDIT_ID}"
COUNTS = {"g0": [40, 60, 0], "g1": [45, 54, 1]}
STATES = ("charged", "running", "released")


def events(*states: str) -> Answer:
    lines = "".join(
        f"event: progress\ndata: {json.dumps({'audit_id': AUDIT_ID, 'state': state})}\n\n"
        for state in states
    )
    return Answer(200, lines.encode(), {"content-type": "text/event-stream"})


class Stage:
    """A platform that has released one audit."""

    def __init__(self, service: ScriptedService) -> None:
        self.service = service
        self.key = platform_key()
        self.made = release(self.key, COUNTS)
        service.sign_in("token")
        service.on("GET", "/v1/catalogue", answer(CATALOGUE))
        service.on("POST", "/v1/audits", self.audit("charged", 202))
        service.on("GET", f"{PATH}/events", events(*STATES))
        service.on("GET", PATH, self.audit("released"))
        service.on("GET", f"/v1/contents/{CONTENT_ID}", answer(content().model_dump(mode="json")))
        service.on("GET", "/v1/budget", answer({"mandates": []}))
        service.on("GET", "/oauth/jwks", answer(key_set(self.key)))
        self.release(self.made)

    def audit(self, state: str, status: int = 200) -> Answer:
        return answer(audit_of(self.made, state).model_dump(mode="json"), status)

    def release(self, made: Released) -> None:
        stored = Answer(200, made.model_dump_json().encode())
        self.service.on("GET", f"{PATH}/release", stored)


@pytest.fixture
def stage(service: ScriptedService) -> Stage:
    return Stage(service)


@pytest.fixture
def auditor(service: ScriptedService, stage: Stage) -> Iterator[Auditor]:
    quick = Retries(attempts=3, first_wait=0.01)
    with Auditor(service.url, "r", OKPKey.generate_key("Ed25519"), retries=quick) as made:
        yield made


def run(auditor: Auditor, **options: Any) -> Any:
    return auditor.audits.run(CONTENT_ID, AUDIENCE_ID, bins=2, epsilon=1.0, **options)


def test_a_run_gives_a_verified_release_with_names(stage: Stage, auditor: Auditor) -> None:
    save_record(AUDIENCE_ID, Record(NAMES))
    audit = run(auditor)
    assert audit.release == stage.made
    assert audit.counts == {"man": [40, 60, 0], "woman": [45, 54, 1]}
    assert auditor.audits.get(AUDIT_ID).counts == audit.counts


def test_a_lost_answer_is_asked_for_again_with_the_same_key(
    service: ScriptedService, stage: Stage, auditor: Auditor
) -> None:
    service.on("POST", "/v1/audits", HANG_UP, Answer(502), stage.audit("charged", 202))
    run(auditor)
    asked = service.requests("POST", "/v1/audits")
    assert len({one.headers["idempotency-key"] for one in asked}) == 1
    assert len({one.body for one in asked}) == 1
    assert len(asked) == 3


def test_each_run_has_a_key_of_its_own(service: ScriptedService, auditor: Auditor) -> None:
    run(auditor)
    run(auditor)
    one, other = service.requests("POST", "/v1/audits")
    assert one.headers["idempotency-key"] != other.headers["idempotency-key"]


def test_a_run_cut_off_says_how_to_repeat_it(service: ScriptedService, auditor: Auditor) -> None:
    service.on("POST", "/v1/audits", HANG_UP)
    with pytest.raises(ConnectionBrokenError) as caught:
        run(auditor)
    key = service.requests("POST", "/v1/audits")[0].headers["idempotency-key"]
    assert any(key in note for note in caught.value.__notes__)


def test_a_given_key_is_used(service: ScriptedService, auditor: Auditor) -> None:
    run(auditor, idempotency_key="mine-and-only")
    (asked,) = service.requests("POST", "/v1/audits")
    assert asked.headers["idempotency-key"] == "mine-and-only"


@pytest.mark.parametrize(
    "stream", [events("charged"), events(), HANG_UP, Answer(503), Answer(200, b"<html>")]
)
def test_without_events_the_state_is_asked_for(
    service: ScriptedService, stage: Stage, auditor: Auditor, stream: Answer
) -> None:
    service.on("GET", f"{PATH}/events", stream)
    service.on("GET", PATH, stage.audit("running"), stage.audit("released"))
    assert run(auditor).release == stage.made


def test_a_stream_that_ends_early_is_opened_again(
    service: ScriptedService, stage: Stage, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling, "RECONNECT_SECONDS", 0.0)
    service.on("GET", f"{PATH}/events", events("charged"), events("running", "released"))
    service.on("GET", PATH, stage.audit("running"), stage.audit("released"))
    assert run(auditor).release == stage.made
    assert len(service.requests("GET", f"{PATH}/events")) == 2


def test_a_stream_that_is_refused_is_not_opened_before_it_may_be(
    service: ScriptedService, stage: Stage, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling, "RECONNECT_SECONDS", 0.0)
    full = problem("quota-exceeded", "You follow 250 audits already.")
    refusal = Answer(409, full.model_dump_json().encode(), {"retry-after": "600"})
    service.on("GET", f"{PATH}/events", refusal)
    service.on("GET", PATH, stage.audit("running"), stage.audit("running"), stage.audit("released"))
    assert run(auditor).release == stage.made
    assert len(service.requests("GET", f"{PATH}/events")) == 1


def test_an_audit_that_failed_says_so(
    service: ScriptedService, stage: Stage, auditor: Auditor
) -> None:
    service.on("GET", f"{PATH}/events", events("failed"))
    service.on("GET", PATH, stage.audit("failed"))
    with refuses(AuditFailedError, "failed"):
        run(auditor)


def test_numbers_changed_after_signing_are_caught(stage: Stage, auditor: Auditor) -> None:
    first, second = stage.made.groups
    forged = first.model_copy(update={"counts": [41, 59]})
    stage.release(stage.made.model_copy(update={"groups": [forged, second]}))
    with refuses(ReceiptError, "another-release-than-signed"):
        run(auditor)


def test_a_signature_of_somebody_else_is_caught(stage: Stage, auditor: Auditor) -> None:
    stage.release(release(platform_key(), COUNTS))
    with refuses(ReceiptError, "wrong-signature"):
        run(auditor)


def test_a_release_of_another_content_is_caught(stage: Stage, auditor: Auditor) -> None:
    stage.release(release(stage.key, COUNTS, title="Nurse"))
    with refuses(ReceiptError, "not-what-was-asked", "content"):
        run(auditor)


def test_a_release_of_another_audience_is_caught(stage: Stage, auditor: Auditor) -> None:
    save_record(AUDIENCE_ID, Record(NAMES, b"salt", "sha256:" + "9" * 64))
    with refuses(ReceiptError, "not-what-was-asked", "audience"):
        run(auditor)


def test_an_audit_of_a_kind_that_is_not_installed_names_the_kind(
    stage: Stage, auditor: Auditor
) -> None:
    audit = audit_of(stage.made, "released").model_dump(mode="json")
    audit |= {"kind": "share-above", "request": audit["request"] | {"kind": "share-above"}}
    stage.service.on("GET", PATH, answer(audit))
    with refuses(InputError, "unknown-kind", "share-above", "match-count"):
        auditor.audits.result(AUDIT_ID)


def test_asking_for_the_price_sends_the_same_request(
    service: ScriptedService, stage: Stage, auditor: Auditor
) -> None:
    seen: list[Asked] = []

    def quoted(asked: Asked) -> Answer:
        seen.append(asked)
        return answer(quote(stage.made.price).model_dump(mode="json"))

    service.on("POST", "/v1/audits/price", quoted)
    assert auditor.audits.price(CONTENT_ID, AUDIENCE_ID, bins=2, epsilon=1.0).covered
    run(auditor)
    assert seen[0].body == service.requests("POST", "/v1/audits")[0].body
    assert json.loads(seen[0].body)["epsilon"] == "1"
